import { beforeAll, expect, test } from "vitest";
import { APPROVE, askFor, askToPay, callOf, decide, ended, viewOf } from "../shared/people.ts";
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

test("people read what the contract says of this call, with everything hidden in it made visible", async () => {
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

// Mutant: the stream stays open, and ends without a trailer, while people think.
test("a stream ends where people are asked; whoever comes back stays until it goes on", async () => {
  const { runId, approvalId, response } = await askFor([callOf("lab__notify", { what: "hi" })]);
  const first = await response.text();
  expect(first).toMatch(/"type":"message-finish".*\nid: \S+\n\ndata: \[DONE\]\n\n$/);
  const whole = await (await follow(runId)).text();
  expect(whole).toBe(first);
  const back = follow(runId, lastIdOf(first)).then((stream) => stream.text());
  expect((await decide(approvalId, "ann", APPROVE)).status).toBe(200);
  await ended(runId);
  const rest = await back;
  expect(rest).toMatch(/\ndata: \[DONE\]\nid: \S+\n\n$/);
  const events = (text: string): string => text.replaceAll(/^: .*\n\n/gm, "");
  const later = await (await follow(runId)).text();
  expect(events(later)).toBe(first.slice(0, -"data: [DONE]\n\n".length) + events(rest));
});
