import { beforeAll, expect, test } from "vitest";
import { APPROVE, askFor, askToPay, callOf, decide, viewOf } from "../shared/people.ts";
import { cancel } from "../shared/run-object.ts";
import { seedPolicies, send } from "../shared/worker.ts";

beforeAll(seedPolicies);

const follow = (runId: string, lastEventId?: string): Promise<Response> =>
  send(`/v1/runs/${runId}/events`, {
    caller: "ann",
    headers: lastEventId === undefined ? {} : { "last-event-id": lastEventId },
  });

const lastIdOf = (text: string): string =>
  text
    .match(/^id: .*$/gm)
    ?.at(-1)
    ?.slice(4) ?? "";

test("people read the contract's description of the call, with all hidden characters made visible", async () => {
  const { runId, approvalId } = await askToPay({ to: "ba\u200bkery\u202e" });
  const { title, lines, packet } = await viewOf(approvalId, "bob");
  expect(title).toBe("Transfer money");
  expect(packet.consequence).toContain("ba\u200bkery");
  expect(lines).toContainEqual({
    field: "consequence",
    label: "Consequence",
    text: "40 USD leave the account and go to ba⟦U+200B⟧kery⟦U+202E⟧.",
    notes: [{ kind: "hidden", count: 2, codePoints: ["U+200B", "U+202E"] }],
  });
  expect(lines.find(({ field }) => field === "compensation")?.text).toBe("It cannot be undone.");
  await cancel(runId, "ann");
});

test("a stream ends with a time to return when approval is needed, and continues once the run does", async () => {
  const { runId, approvalId, response } = await askFor([callOf("lab__notify", { what: "hi" })]);
  const first = await response.text();
  const trailer = "retry: 3000\ndata: [DONE]\n\n";
  expect(first).toMatch(/"type":"message-finish".*\nid: \S+\n\n/);
  expect(first.endsWith(`\n\n${trailer}`)).toBe(true);
  expect(await (await follow(runId)).text()).toBe(first);
  expect((await decide(approvalId, "ann", APPROVE)).status).toBe(200);
  const rest = await (await follow(runId, lastIdOf(first))).text();
  expect(rest).toMatch(/\ndata: \[DONE\]\nid: \S+\n\n$/);
  const events = (text: string): string => text.replaceAll(/^: .*\n\n/gm, "");
  const later = await (await follow(runId)).text();
  expect(events(later)).toBe(first.slice(0, -trailer.length) + events(rest));
});

test("readers that return to a waiting run, however many, hold nothing and lock nobody out", async () => {
  const { runId, response } = await askFor([callOf("lab__notify", { what: "hi" })]);
  const lastId = lastIdOf(await response.text());
  const open = [];
  for (let reader = 0; reader < 130; reader += 1) open.push(await follow(runId, lastId));
  expect(new Set(open.map(({ status }) => status))).toEqual(new Set([200]));
  const texts = await Promise.all(open.map((stream) => stream.text()));
  expect(new Set(texts)).toEqual(new Set(["retry: 3000\ndata: [DONE]\n\n"]));
  await cancel(runId, "ann");
});
