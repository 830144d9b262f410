import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { effects } from "../workers/lab-tools.ts";
import { releaseUrl, type ScriptedStep } from "../fakes/scripted-model.ts";
import {
  chat,
  chunksOf,
  govern,
  runIdOf,
  seedPolicies,
  stateOf,
  type WireChunk,
} from "../shared/worker.ts";

beforeAll(seedPolicies);
beforeEach(() => {
  effects.length = 0;
});

const note = (text: string, id = text): NonNullable<ScriptedStep["calls"]>[number] => ({
  id,
  name: "lab__write_note",
  args: JSON.stringify({ text }),
});
const endsOf = (chunks: readonly WireChunk[]): readonly unknown[] =>
  chunks
    .filter(({ type }) => type === "result")
    .map(({ result }) => {
      const { status, result_payload: payload } = result as {
        status: { taxonomy_class: string };
        result_payload: { errors: { code: string }[] };
      };
      return payload.errors[0]?.code ?? status.taxonomy_class;
    });

test("a call that is tried again shows its progress, and its state counts the attempts", async () => {
  const call = { id: "f", name: "lab__flaky", args: "{}" };
  const response = await chat([{ calls: [call] }, { shows: true }], "lab");
  const runId = runIdOf(response);
  const chunks = await chunksOf(response);
  const progress = chunks.flatMap(({ type, data }) =>
    type === "data"
      ? (data as { type: string }[]).filter((item) => /progress/.test(item.type))
      : [],
  );
  expect(progress).toMatchObject([
    { toolCallId: "f", stage: "asking", done: 1, total: 2, text: "desk ".repeat(30) },
    { toolCallId: "f", attempt: 2 },
    { toolCallId: "f", stage: "asking", done: 2, total: 2, text: "desk ".repeat(40) },
  ]);
  const prompt = chunks
    .map(({ textDelta }) => (typeof textDelta === "string" ? textDelta : ""))
    .join("");
  expect(prompt).toContain("SUCCESS");
  expect(prompt).not.toContain("desk desk");
  expect((await stateOf(runId, "lab")).toolCalls).toMatchObject([
    { outcome: "SUCCESS", attempts: 2, nextAction: "continue", version: "1.0.0" },
  ]);
});

test("the newest active version is used, and a policy may ask for the one before", async () => {
  const greet = { id: "g", name: "lab__greet", args: "{}" };
  const greeting = async (entry: unknown): Promise<readonly unknown[]> => {
    await govern({ allowedTools: [entry] });
    const chunks = await chunksOf(await chat([{ calls: [greet] }, { text: ["ok"] }], "bendable"));
    const result = chunks.find(({ type }) => type === "result")?.["result"];
    const { tool_identity: tool, result_payload: payload } = result as {
      tool_identity: { version: string };
      result_payload: { data: { greeting: string }; warnings: string[] };
    };
    return [tool.version, payload.data.greeting, payload.warnings.length];
  };
  expect(await greeting("lab__greet")).toEqual(["2.0.0", "Hello", 0]);
  expect(await greeting({ id: "lab__greet", versions: ["1.0.0"] })).toEqual([
    "1.0.0",
    "Good day",
    1,
  ]);
  const canary = { version: "2.0.0", percent: 100 };
  expect(await greeting({ id: "lab__greet", versions: ["1.0.0"], canary })).toEqual([
    "2.0.0",
    "Hello",
    0,
  ]);
});

describe("a policy that changes while a run goes", () => {
  /** Starts a run whose model waits between two writes, changes the policy, and lets it go on. */
  async function changeBetween(word: string, policy: object): Promise<readonly unknown[]> {
    await govern({ allowedTools: ["lab__write_note"] });
    const response = await chat(
      [{ calls: [note("before")] }, { calls: [note("after")], holds: word }, { text: ["ok"] }],
      "bendable",
    );
    await expect.poll(() => effects.length).toBe(1);
    await govern(policy);
    await fetch(releaseUrl(word));
    return endsOf(await chunksOf(response));
  }

  test("stops its next mutation at once", async () => {
    expect(await changeBetween("gates-taken", { allowedTools: [] })).toEqual([
      "SUCCESS",
      "not_allowed",
    ]);
    expect(effects).toEqual(["note: before"]);
  });

  test("stops it by a rule that is new", async () => {
    const argumentRules = [{ tool: "lab__write_note", field: "/text", must: { equal: "before" } }];
    const policy = { allowedTools: ["lab__write_note"], argumentRules };
    expect(await changeBetween("gates-ruled", policy)).toEqual(["SUCCESS", "argument_rule"]);
    expect(effects).toEqual(["note: before"]);
  });

  test("lets it go on when it allows more: what the run pinned is its ceiling", async () => {
    const policy = { allowedTools: ["lab__write_note", "lab__delete_all"] };
    expect(await changeBetween("gates-widened", policy)).toEqual(["SUCCESS", "SUCCESS"]);
    expect(effects).toEqual(["note: before", "note: after"]);
  });
});

test("the tenant's budget limits all of its runs together, and no other tenant's", async () => {
  await govern({
    allowedTools: ["lab__write_note"],
    tenantBudgets: { maxWrites: 2, windowSeconds: 2_678_400 },
  });
  const run = async (text: string): Promise<readonly unknown[]> =>
    endsOf(await chunksOf(await chat([{ calls: [note(text)] }, { text: ["ok"] }], "bendable")));
  const ends = (await Promise.all(["a", "b", "c", "d"].map(run))).flat();
  expect(ends.filter((end) => end === "SUCCESS").length).toBe(2);
  expect(ends.filter((end) => end === "budget_exhausted").length).toBe(2);
  expect(effects.length).toBe(2);
  const other = { ...note("e"), args: '{"text":"e","to":"ann"}' };
  const elsewhere = await chat([{ calls: [other] }, { text: ["ok"] }], "lab");
  expect(endsOf(await chunksOf(elsewhere))).toEqual(["SUCCESS"]);
});

test("a call id that the model repeats does not save it a second reservation", async () => {
  await govern({
    allowedTools: ["lab__write_note"],
    budgets: { maxWrites: 2 },
  });
  const steps = ["1", "2", "3"].map((text) => ({ calls: [note(text, "same")] }));
  const chunks = await chunksOf(await chat([...steps, { text: ["ok"] }], "bendable"));
  expect(endsOf(chunks)).toEqual(["SUCCESS", "SUCCESS", "budget_exhausted"]);
  expect(effects).toEqual(["note: 1", "note: 2"]);
});

test("the tenant's tokens hold for all of its runs: a run asks before each model call", async () => {
  await govern({ allowedTools: [], tenantBudgets: { maxTokens: 1_000, windowSeconds: 2_600_001 } });
  const run = async (): Promise<unknown> => {
    const response = await chat([{ text: ["hi"], usage }], "bendable");
    const runId = runIdOf(response);
    await response.text();
    const { reason, error } = await stateOf(runId, "bendable");
    return error?.code ?? reason;
  };
  // Each call is billed as 300 tokens, and needs some 450 to begin.
  const usage = { prompt_tokens: 200, completion_tokens: 100 };
  const ends = [await run(), await run(), await run()];
  expect(ends).toEqual(["stop", "stop", "budget_exhausted"]);
});
