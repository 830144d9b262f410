import { describe, expect, it } from "vitest";
import { sentence } from "../../src/protocol/text/field-label.ts";
import type { Visit, VisitOptions } from "./open-page.ts";
import { createApproval, vote } from "./scripted-approvals.ts";
import { fillQueue, titled } from "./scripted-queue.ts";
import { usePage } from "./use-page.ts";

let visit: Visit;
const openPage = usePage((opened) => {
  visit = opened;
});

function open(options: VisitOptions): Promise<void> {
  return openPage({ prepare: fillQueue, ...options });
}

const card = () => visit.page.getByRole("dialog");

describe("an open approval", () => {
  const reads = () => visit.api.requestsTo(/GET \/v1\/approvals\/appr_one$/).length;
  const passSeconds = async (count: number): Promise<void> => {
    for (let second = 0; second < count; second += 1) await visit.page.evaluate("release()");
  };

  const see = (state: string) =>
    visit.page.evaluate(
      `Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true })`,
    );

  it("shows the votes of other people, with one request in five seconds while it is seen", async () => {
    await open({ at: "approvals#appr_one", holdSeconds: true });
    await card().getByRole("button", { name: "Approve" }).waitFor();
    await expect.poll(reads).toBe(2);
    const one = visit.api.approvals.get("appr_one");
    visit.api.approvals.put({ ...one, votes: [vote("user:bob", "approve")] });
    await passSeconds(5);
    await card().getByText("user:bob").waitFor();
    expect(reads()).toBe(3);
    await see("hidden");
    await passSeconds(11);
    expect(reads()).toBe(3);
    await see("visible");
    visit.api.approvals.put({ ...one, status: "rejected", votes: [vote("user:eve", "reject")] });
    await passSeconds(5);
    await card().getByText("Rejected. The tool does not run.").waitFor();
    await passSeconds(11);
    expect(reads()).toBe(4);
  });

  it.each([
    ["rules change", "terms", "The rules for this call changed", "the rules changed"],
    ["state changes", "shown", "What you were shown has changed since", "this has changed"],
  ])("whose %s says so, shows what changed, and leads to the new approval", async (...row) => {
    const [, what, message, title] = row;
    await open({ at: "approvals#appr_one" });
    await card().getByRole("button", { name: "Approve" }).waitFor();
    const { approvals: api } = visit.api;
    const next = api.put(createApproval({ id: "appr_one_2", packet: titled("Tag one") }));
    const view = api.view.bind(api);
    const notes: string[] = [];
    const change = { field: `changed${sentence(what)}`, label: "Price", text: "1, now 2", notes };
    const marked = { field: "arguments", label: "To", text: "bob", was: "<b>ann</b>", notes };
    const added = { field: "arguments", label: "Copy", text: "eve", was: null, notes };
    api.view = (id) => ({
      ...view(id),
      ...(id === next.id
        ? { lines: [change, marked, added] }
        : { supersededBecause: `${what}_changed` }),
    });
    const one = api.get("appr_one");
    api.onDecide = (id) => {
      api.put({ ...one, status: "superseded", supersededBy: next.id });
      return { status: 409, body: { code: "approval_closed", approval: api.view(id) } };
    };
    await card().getByRole("button", { name: "Approve" }).click();
    await card().getByText(`${message}. Earlier votes do not count.`).waitFor();
    const changes = card().getByRole("region", { name: `Asked again, because ${title}` });
    expect(await changes.textContent()).toContain("Price1, now 2");
    expect(visit.page.url()).toMatch(/#appr_one_2$/);
    const args = card().getByRole("region", { name: "Arguments" });
    expect(await args.getByRole("definition").allInnerTexts()).toEqual([
      expect.stringMatching(/^bob\s+Changed\. Before: <b>ann<\/b>$/),
      expect.stringMatching(/^eve\s+New: there was no value before\.$/),
    ]);
  });
});
