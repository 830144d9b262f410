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
