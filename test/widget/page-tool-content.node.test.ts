import { describe, expect, it } from "vitest";
import type { Visit } from "./open-page.ts";
import { RESULT_CUT } from "../../src/protocol/outcome/kept-result.ts";
import * as say from "./run-events.ts";
import { usePage } from "./use-page.ts";

let visit: Visit;
const open = usePage((opened) => {
  visit = opened;
});

/** One transparent pixel. */
const PIXEL = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
const SVG = btoa("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>");
const HOSTILE = '<img src="x" onerror="alert(1)">';
const pathOf = (number: number): string => `/v1/runs/run_1/invocations/inv_1/images/${number}`;
const image = { type: "image", mediaType: "image/gif", bytes: 42 } as const;
const content = () => visit.page.getByRole("region", { name: "Text and images" });
const pictures = () =>
  visit.inside<string[]>(`(root) => [...root.querySelectorAll("img")].map(({ src }) => src)`);

const whole = () => visit.page.getByRole("region", { name: "Whole result" });

/** Asks in the chat, and answers with a call whose result was cut. */
async function cutOff(): Promise<void> {
  const run = await visit.ask("List it");
  visit.api.undo.put(run.id, {});
  run.emit(say.proposeTool(0, "library__list_books"), say.startTool(0, {}));
  run.emit(say.finishTool(0, { first: "a" }, [`${RESULT_CUT} 4096 bytes`]), say.end());
}

/** Asks in the chat, and answers with a call that has text and two images. */
async function illustrate(): Promise<void> {
  const run = await visit.ask("Show it");
  visit.api.undo.put(run.id, {});
  run.emit(say.proposeTool(0, "library__show_page"), say.startTool(0, { page: 1 }));
  run.emit(say.finishWithContent(0, [{ type: "text", text: HOSTILE }, image, image]), say.end());
}

describe("text and images of a tool", () => {
  it("are in the card of the call, text as text, images read with the page's token", async () => {
    await open();
    visit.api.images.set(pathOf(1), { type: "image/gif", base64: PIXEL });
    visit.api.images.set(pathOf(2), { type: "image/gif", base64: PIXEL });
    await illustrate();
    await content().getByText(HOSTILE).waitFor();
    await content().getByRole("img", { name: "Image 2 of Show page" }).waitFor();
    const url = `data:image/gif;base64,${PIXEL}`;
    await expect.poll(pictures).toEqual([url, url]);
    const drawn = `(root) => [...root.querySelectorAll("img")].every((e) => e.naturalWidth === 1)`;
    await expect.poll(() => visit.inside<boolean>(drawn)).toBe(true);
    const asked = visit.api.requestsTo(/GET .*\/images\//).map(({ path }) => path);
    expect(asked.toSorted()).toEqual([pathOf(1), pathOf(2)]);
  });

  it("an image of another type, or that cannot be read, is named and not shown", async () => {
    await open();
    visit.api.images.set(pathOf(1), { type: "image/svg+xml", base64: SVG });
    await illustrate();
    await content().getByText("Image 1 of Show page cannot be shown.").waitFor();
    await content().getByText("Image 2 of Show page cannot be shown.").waitFor();
    expect(await pictures()).toEqual([]);
  });
});

describe("a result that was cut", () => {
  it("is opened whole by its reader, as text, and only when asked for", async () => {
    await open();
    const path = "/v1/runs/run_1/invocations/inv_1/result";
    visit.api.results.set(path, { kind: "whole", data: { all: HOSTILE }, texts: ["and more"] });
    await cutOff();
    await whole().waitFor();
    expect(visit.api.requestsTo(/\/result$/)).toEqual([]);
    await whole().getByRole("button", { name: "Show the whole result" }).click();
    await whole().getByText(JSON.stringify(HOSTILE)).waitFor();
    await whole().getByText("and more").waitFor();
    expect(visit.api.requestsTo(/\/result$/)).toHaveLength(1);
  });

  it("that is not kept is said so, and one that is whole has no button", async () => {
    await open();
    await cutOff();
    await whole().getByRole("button").click();
    await whole().getByText("The whole result is not kept.").waitFor();
    await illustrate();
    await content().getByText(HOSTILE).waitFor();
    expect(await whole().count()).toBe(1);
  });
});

describe("what a tool tells people", () => {
  const section = (name: string) => visit.page.getByRole("region", { name });

  it("is shown while the call runs, and what came with the result takes its place, as text", async () => {
    await open();
    const run = await visit.ask("Add it up");
    visit.api.undo.put(run.id, {});
    run.emit(say.proposeTool(0, "books__sum"), say.startTool(0, {}));
    run.emit(say.reportProgress(0, { details: { rows: "one row" } }));
    await section("Found so far").getByText("one row").waitFor();
    run.emit(say.finishWithDetails(0, { value: { rows: HOSTILE } }), say.end());
    await section("Details").getByText(HOSTILE).waitFor();
    expect(await section("Found so far").count()).toBe(0);
    expect(await section("Result").getByText("3").count()).toBe(1);
  });

  it("is taken back by a result without it, and named where it cannot be shown", async () => {
    await open();
    const run = await visit.ask("Add it up");
    visit.api.undo.put(run.id, {});
    for (const part of [0, 1]) {
      run.emit(say.proposeTool(part, "books__sum"), say.startTool(part, {}));
      run.emit(say.reportProgress(part, { details: { rows: `row of ${part}` } }));
      await visit.page.getByText(`row of ${part}`).waitFor();
    }
    run.emit(say.finishTool(0, { total: 1 }));
    run.emit(say.finishWithDetails(1, { leftOut: "too_large" }), say.end());
    await visit.page.getByText("The tool told more, which is too large").waitFor();
    expect(await visit.page.getByText(/row of/).count()).toBe(0);
  });
});

describe("data of a call", () => {
  it("has lists as tables to sort, moments as the reader writes them, and the rest as JSON", async () => {
    // The texts are English; the numbers and dates are those of the reader.
    await open({ reader: { locale: "fr-FR", timezoneId: "Europe/Paris" } });
    const run = await visit.ask("What is open?");
    visit.api.undo.put(run.id, {});
    const invoices = Array.from({ length: 30 }, (_, index) => ({
      number: 1000 + index,
      vendor: index === 3 ? HOSTILE : `Vendor ${index}`,
      amount: ((index * 7) % 30) * 1000.5,
      due: "2026-12-01",
    }));
    const many = Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`k${index}`, index]));
    run.emit(say.proposeTool(0, "books__list_invoices"), say.startTool(0, {}));
    const times = {
      readAt: "2026-11-28T05:00:00Z",
      inTokyo: "2026-11-28T15:30:00+09:00",
      inParis: "2026-11-28T07:15:00+01:00",
    };
    run.emit(say.finishTool(0, { ...times, invoices, many }), say.end());
    const result = visit.page.getByRole("region", { name: "Result" });
    const table = result.getByRole("table", { name: "Invoices" });
    for (const time of ["06:00", "15:30 (UTC+09:00)", "07:15"]) {
      await result.getByText(`28 nov. 2026, ${time}`, { exact: true }).waitFor();
    }
    expect(await table.getByRole("row").count()).toBe(21);
    await result.getByRole("button", { name: "Show all 30 rows" }).click();
    expect(await table.getByRole("row").count()).toBe(31);
    await table.getByText(HOSTILE).waitFor();
    const cells = async () =>
      await table.getByRole("row").nth(1).getByRole("cell").allTextContents();
    const sort = table.getByRole("button", { name: "Amount" });
    await sort.click();
    expect(await cells()).toEqual(["1000", "Vendor 0", "0", "1 déc. 2026"]);
    await sort.click();
    expect(await cells()).toEqual(["1017", "Vendor 17", "29\u202f014,5", "1 déc. 2026"]);
    expect(
      await table.getByRole("columnheader", { name: "Amount" }).getAttribute("aria-sort"),
    ).toBe("descending");
    await result.getByText("All as JSON").click();
    expect(await result.locator(".json pre").textContent()).toContain('"k79": 79');
  });
});

describe("files of a question", () => {
  const pdf = { name: "plan.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.7") };
  const gif = { name: "dot.gif", mimeType: "image/gif", buffer: Buffer.from(PIXEL, "base64") };
  const picker = () => visit.page.locator("input[type=file]");
  const attached = () => visit.page.getByRole("list", { name: "Attached files" });

  /** Opens the chat of a model that takes such files. */
  async function openFor(takes: { images: boolean; documents: boolean }): Promise<void> {
    await open({ prepare: (api) => (api.pageTexts = { suggestions: [], takes }) });
    await visit.page.evaluate(
      `document.querySelector("interlock-chat").setAttribute("tokenless", "")`,
    );
  }

  /** Pastes or drops a picture, as a browser says it. */
  const give = (type: "paste" | "drop", name: string) =>
    visit.inside(`(root) => {
      const data = new DataTransfer();
      const bytes = Uint8Array.from(atob("${PIXEL}"), (char) => char.charCodeAt(0));
      data.items.add(new File([bytes], "${name}", { type: "image/gif" }));
      const options = { bubbles: true, cancelable: true, clipboardData: data, dataTransfer: data };
      const event = "${type}" === "paste" ? new ClipboardEvent("paste", options) : new DragEvent("drop", options);
      root.querySelector("textarea").dispatchEvent(event);
    }`);

  it("are chosen, pasted or dropped, shown, and sent with the words", async () => {
    await openFor({ images: true, documents: true });
    await visit.page.getByRole("button", { name: "Attach files" }).waitFor();
    await picker().setInputFiles([pdf, gif]);
    await give("paste", "pasted.gif");
    await give("drop", "dropped.gif");
    await attached().getByText("dropped.gif").waitFor();
    await visit.page.getByRole("button", { name: "Remove pasted.gif" }).click();
    expect(await attached().getByRole("listitem").allTextContents()).toEqual([
      "plan.pdf×",
      "dot.gif×",
      "dropped.gif×",
    ]);
    const run = await visit.ask("What is it?");
    const image = `data:image/gif;base64,${PIXEL}`;
    expect(run.asked).toMatchObject({
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is it?" },
            {
              type: "file",
              data: pdf.buffer.toString("base64"),
              mimeType: pdf.mimeType,
              filename: "plan.pdf",
            },
            { type: "image", image },
            { type: "image", image },
          ],
        },
      ],
    });
    await attached().waitFor({ state: "hidden" });
    const bubble = visit.page.getByRole("article", { name: "You" });
    await bubble.getByText("plan.pdf").waitFor();
    // During the answer files wait for the next question.
    await picker().setInputFiles(pdf);
    await visit.page.getByLabel("Message").fill("and this");
    expect(await visit.page.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
    run.emit(say.startText(0), say.text(0, "A dot."), say.finishText(0), say.end());
    await visit.page.getByRole("button", { name: "Answer again" }).click();
    await expect.poll(() => visit.api.runs.length).toBe(2);
    expect(JSON.stringify(visit.api.runs[1]?.asked)).toContain(image);
  });

  it("that the model does not take, or that are too large, are refused in words", async () => {
    await openFor({ images: true, documents: false });
    await visit.page.getByRole("button", { name: "Attach files" }).waitFor();
    const problem = visit.page.getByRole("alert");
    await picker().setInputFiles(pdf);
    await problem.getByText("plan.pdf cannot be sent. Send PNG, JPEG, GIF or WebP.").waitFor();
    await picker().setInputFiles({ ...gif, buffer: Buffer.alloc(4 * 1024 * 1024) });
    await problem.getByText("the files of a message may have 3 MB together").waitFor();
    expect(await attached().getByRole("listitem").count()).toBe(0);
    await visit.close();
    await open();
    await visit.page.getByLabel("Message").waitFor();
    expect(await visit.page.getByRole("button", { name: "Attach files" }).count()).toBe(0);
  });
});
