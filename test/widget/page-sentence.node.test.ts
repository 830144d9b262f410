import { describe, expect, it } from "vitest";
import type { Visit } from "./open-page.ts";
import * as say from "./run-events.ts";
import { createApproval } from "./scripted-approvals.ts";
import { usePage } from "./use-page.ts";
import { locateCard, startWaitingRun } from "./waiting-run.ts";

let visit: Visit;
const open = usePage((opened) => {
  visit = opened;
});
const { card, button } = locateCard(() => visit);

const phone = { viewport: { width: 360, height: 640 } };
const fieldsOf = (count: number): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`field_${at}`, `value ${at}`]));
const LONG = "Everybody in the list gets this mail at once. ".repeat(21).trim();

/** Scrolls to the end, and lists each place where Approve is in sight without the sentence. */
const SCAN = `(root) => {
  const approve = [...root.querySelectorAll("button")].find((b) => b.textContent === "Approve");
  const sentence = root.querySelector(".sentence");
  const scroller = approve.closest(".log, .detail");
  const box = scroller.getBoundingClientRect();
  const isInSight = ({ left, right, top, bottom }, element) => {
    for (let y = top + 1; y < bottom; y += 2) {
      for (const x of [left + 3, (left + right) / 2, right - 3]) {
        const isInBox = y > box.top && y < box.bottom;
        if (isInBox && element.contains(root.elementFromPoint(x, y))) return true;
      }
    }
    return false;
  };
  const places = { inSight: 0, hidden: 0, alone: [] };
  for (let top = 0; top <= scroller.scrollHeight - scroller.clientHeight; top += 5) {
    scroller.scrollTop = top;
    const isSeen = isInSight(approve.getBoundingClientRect(), approve);
    places[isSeen ? "inSight" : "hidden"] += 1;
    const said = sentence.getBoundingClientRect();
    const isWhole = said.height > 10 && said.top > box.top - 1 && said.bottom < box.bottom + 1;
    if (isSeen && !isWhole) places.alone.push(top);
  }
  return { ...places, text: sentence.textContent, isCut: sentence.scrollHeight > sentence.clientHeight + 1 };
}`;

interface Places {
  readonly inSight: number;
  readonly hidden: number;
  readonly alone: readonly number[];
  readonly text: string;
  readonly isCut: boolean;
}

describe.each([
  ["a short sentence", "Ann gets 40 EUR back.", false],
  ["a sentence of a thousand characters", LONG, true],
])("%s is in sight wherever Approve is, on a phone", (_name, consequence, isCut) => {
  const packet = {
    consequence,
    arguments: { shown: fieldsOf(12), withheld: [] },
    beforeState: fieldsOf(12),
  };

  it("on the approvals page", async () => {
    await open({
      ...phone,
      at: "approvals#appr_a_b_1_1",
      prepare: ({ approvals }) => approvals.put(createApproval({ packet })),
    });
    await expect.poll(() => button("Approve").isEnabled()).toBe(true);
    const places = await visit.inside<Places>(SCAN);
    expect(places).toMatchObject({ alone: [], isCut });
    expect(places.text).toBe(`Refund 40 EUR to Ann ${consequence}`);
    expect(places.inSight).toBeGreaterThan(5);
    // The buttons stay at the foot of a question that is longer than the page.
    expect(places.hidden).toBe(0);
  });

  it("in the chat, between other calls", async () => {
    await open(phone);
    const { run } = await startWaitingRun(visit, { packet });
    run.emit(
      say.proposeTool(1, "core__list"),
      say.startTool(1, {}),
      say.finishTool(1, fieldsOf(24)),
    );
    await visit.page.getByText("Field 23").waitFor();
    await expect.poll(() => button("Approve").isEnabled()).toBe(true);
    const places = await visit.inside<Places>(SCAN);
    expect(places).toMatchObject({ alone: [], isCut });
    expect(Math.min(places.inSight, places.hidden)).toBeGreaterThan(5);
  });
});

it("is what a screen reader says about the buttons", async () => {
  await open();
  await startWaitingRun(visit);
  const said = await visit.inside<string>(
    `(root) => {
      const approve = [...root.querySelectorAll("button")].find((b) => b.textContent === "Approve");
      return root.getElementById(approve.getAttribute("aria-describedby")).textContent;
    }`,
  );
  expect(said).toBe("Refund 40 EUR to Ann Ann gets 40 EUR back.");
  await card().getByRole("button", { name: "Edit arguments" }).click();
  await card().getByText("Other arguments for:").waitFor();
});
