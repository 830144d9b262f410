import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { InvocationEnd } from "../../src/protocol/invocation/record.ts";
import type { ToolCallSummary } from "../../src/protocol/run/state.ts";
import { ended } from "../shared/people.ts";
import { invoke } from "../shared/invoke.ts";
import { rowsOf, transcriptOf } from "../shared/run-object.ts";
import { bindings, chat, govern, runIdOf, seedPolicies, send } from "../shared/worker.ts";
import { seats } from "../workers/lab-undo.ts";

const PIN = "pin-4831";
const RESERVE = "lab__reserve_seat";
const RELEASE = "lab__release_seat";

const printed: string[] = [];
beforeAll(seedPolicies);
beforeEach(async () => {
  printed.length = 0;
  seats.clear();
  for (const method of ["log", "warn", "error"] as const) {
    vi.spyOn(console, method).mockImplementation((text: unknown) => {
      printed.push(String(text));
    });
  }
  await govern({ allowedTools: [RESERVE, RELEASE] });
});
afterEach(() => {
  vi.restoreAllMocks();
});

interface Called {
  readonly runId: string;
  readonly call: ToolCallSummary | undefined;
  readonly end: InvocationEnd;
  /** Everything that left the run's object. */
  readonly seen: string;
}

/** Lets a model call one tool, and reads what the run stored and what left it. */
async function callTool(name: string, args: object): Promise<Called> {
  const calls = [{ id: "call_1", name, args: JSON.stringify(args) }];
  const response = await chat([{ calls }, { text: ["done"] }], "bendable");
  const runId = runIdOf(response);
  const stream = await response.text();
  const { toolCalls } = await ended(runId, "bendable");
  const [row] = await rowsOf(runId, "SELECT ending FROM invocations");
  const read = async (path: string): Promise<string> =>
    (await send(path, { caller: "bendable" })).text();
  const paths = ["", "/events", "/trace"].map((path) => `/v1/runs/${runId}${path}`);
  const texts = await Promise.all([...paths, "/v1/audit", "/v1/runs"].map(read));
  const { keys } = await bindings.IDEMPOTENCY.list();
  const kept = await Promise.all(keys.map((key) => bindings.IDEMPOTENCY.get(key.name)));
  return {
    runId,
    call: toolCalls[0],
    end: JSON.parse(row?.["ending"] as string) as InvocationEnd,
    seen: JSON.stringify([stream, texts, kept, await observationsOf(runId), printed]),
  };
}

/** What the model was told. */
async function observationsOf(runId: string): Promise<readonly unknown[]> {
  const messages = await transcriptOf(runId, "bendable");
  return messages.filter(({ role }) => role === "tool");
}

test("how to undo a call is stored with its outcome, raw, and never leaves the run's object", async () => {
  const { end, call, seen } = await callTool(RESERVE, { seat: "12A", pin: PIN });
  expect(call).toMatchObject({ state: "COMPLETED", outcome: "SUCCESS" });
  expect(end.compensation).toEqual({
    toolId: RELEASE,
    version: "1.0.0",
    args: { seat: "12A", pin: `${PIN}/code-of-${PIN}` },
  });
  expect(seen).not.toContain("code-of-");
  expect(seen).not.toContain('compensation":{"toolId');
});

test.each([
  ["throws", "Error"],
  ["does not fit", "arguments_do_not_fit"],
])(
  "a call whose compensate %s has happened, and says that nothing undoes it",
  async (fault, word) => {
    const { end, call, seen } = await callTool(RESERVE, { seat: "12B", pin: PIN, fault });
    expect(seats).toContain("12B");
    expect(call).toMatchObject({ state: "COMPLETED", outcome: "SUCCESS" });
    expect(end.compensation).toBeUndefined();
    expect(end.observation.result_payload.warnings).toEqual([
      "this happened, but it cannot be undone automatically",
    ]);
    const lines = printed.filter((line) => line.includes('"compensation_lost"'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(word);
    expect(seen).not.toContain("code-of-");
  },
);

test("a person calls a hidden tool that the policy allows, and no other one", async () => {
  seats.add("12D");
  const args = { seat: "12D", pin: PIN };
  const called = await invoke(RELEASE, args, { caller: "bendable", key: "first" });
  expect(called.status).toBe(200);
  expect(seats).not.toContain("12D");
  await govern({ allowedTools: [RESERVE] });
  const refused = await invoke(RELEASE, args, { caller: "bendable", key: "second" });
  expect(refused.status).toBe(404);
});

test("a model does not see a hidden tool, and a call of it is a call of an unknown tool", async () => {
  seats.add("12C");
  const listed = await send("/v1/tools", { caller: "bendable" });
  expect(await listed.text()).not.toContain(RELEASE);
  const { call, end } = await callTool(RELEASE, { seat: "12C", pin: PIN });
  const unknown = await callTool("lab__no_such_tool", { seat: "12C", pin: PIN });
  expect(call).toMatchObject({ state: "FAILED_FINAL", outcome: "STRUCTURAL_VIOLATION" });
  expect(end.observation.result_payload).toEqual(unknown.end.observation.result_payload);
  expect(seats).toContain("12C");
  const contract = await send(`/v1/tools/${RELEASE}`, { caller: "bendable" });
  expect(await contract.json()).toMatchObject({ interlock: { shown_to_model: false } });
});
