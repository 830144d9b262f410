import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { releaseUrl, script } from "../fakes/scripted-model.ts";
import { APPROVE, callOf, decide, openOf } from "../shared/people.ts";
import { untilState } from "../shared/run-object.ts";
import {
  chat,
  govern,
  postChat,
  putPolicy,
  runIdOf,
  seedPolicies,
  send,
  stateOf,
} from "../shared/worker.ts";
import { bought } from "../workers/lab-prices.ts";

beforeAll(seedPolicies);
beforeEach(() => {
  bought.length = 0;
});

/** Windows of their own keep the tests of one tenant apart. */
let windowSeconds = 1_500_000;
const nextWindow = (): { readonly windowSeconds: number } => ({ windowSeconds: ++windowSeconds });

const POLICY = { allowedTools: ["lab__survey", "lab__look_in_register"] };
const capped = (...costCaps: readonly object[]): Promise<void> => govern({ ...POLICY, costCaps });

/** It costs 2. */
const SURVEY = callOf("lab__survey", { what: "tea" });
/** It costs 1. */
const LOOK_UP = callOf("lab__look_in_register", { what: "tea" });

/** Runs one call, and answers its outcome with the code of a failure. */
async function tryIt(call = SURVEY): Promise<string> {
  const response = await chat([{ calls: [call] }, { text: ["done"] }], "bendable");
  const stream = await response.text();
  const { toolCalls } = await stateOf(runIdOf(response), "bendable");
  const code = /"code":"(cost_\w+|budget_\w+)"/.exec(stream)?.[1];
  return [toolCalls[0]?.outcome, code].filter(Boolean).join(" ");
}

const FULL = "BUDGET_EXHAUSTED cost_capped";

describe("a cap of the cost", () => {
  test("holds for runs at once: what no cap leaves room for does not happen", async () => {
    await capped({ tools: ["lab__survey"], maxCost: 6, ...nextWindow() });
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => tryIt()));
    expect(outcomes.filter((outcome) => outcome === "SUCCESS")).toHaveLength(3);
    expect(outcomes.filter((outcome) => outcome === FULL)).toHaveLength(5);
    expect(bought).toHaveLength(3);
  });

  test.each<[string, object, readonly string[]]>([
    ["of a tool counts no other tool", { tools: ["lab__survey"] }, ["SUCCESS", FULL, "SUCCESS"]],
    ["of a class", { classes: ["LOW_RISK_INTERNAL"] }, ["SUCCESS", FULL, "SUCCESS"]],
    [
      "of an effect counts reads too",
      { effects: ["read_only"] },
      ["SUCCESS", "SUCCESS", "SUCCESS"],
    ],
    ["of every tool counts them together", {}, ["SUCCESS", FULL, FULL]],
  ])("%s", async (_, selector, expected) => {
    await capped({ ...selector, maxCost: 2, ...nextWindow() });
    expect([await tryIt(), await tryIt(), await tryIt(LOOK_UP)]).toEqual(expected);
  });

  test("of reads is counted once for each read", async () => {
    await capped({ tools: ["lab__look_in_register"], maxCost: 2, ...nextWindow() });
    expect([await tryIt(LOOK_UP), await tryIt(LOOK_UP), await tryIt(LOOK_UP)]).toEqual([
      "SUCCESS",
      "SUCCESS",
      FULL,
    ]);
    expect(bought).toEqual(["look tea", "look tea"]);
  });

  test("that is written in another way begins with what was counted", async () => {
    const window = nextWindow();
    await capped({ tools: ["lab__survey"], maxCost: 2, ...window });
    expect(await tryIt()).toBe("SUCCESS");
    await capped({ classes: ["LOW_RISK_INTERNAL", "READ_ONLY"], maxCost: 3, ...window });
    expect([await tryIt(), await tryIt(LOOK_UP)]).toEqual([FULL, "SUCCESS"]);
  });

  test("counts its own tools alone, also in a window of another cap", async () => {
    const window = nextWindow();
    const register = { tools: ["lab__look_in_register"], maxCost: 1 };
    await capped({ tools: ["lab__survey"], maxCost: 2, ...window }, { ...register, ...window });
    expect([await tryIt(), await tryIt(LOOK_UP), await tryIt()]).toEqual([
      "SUCCESS",
      "SUCCESS",
      FULL,
    ]);
  });

  test("each holds: the narrow one and the wide one", async () => {
    const window = nextWindow();
    await capped({ tools: ["lab__survey"], maxCost: 100, ...window }, { maxCost: 2, ...window });
    expect([await tryIt(), await tryIt()]).toEqual(["SUCCESS", FULL]);
  });
});

describe("a cap that changes while a run goes on", () => {
  /** Starts a run, changes the policy before its call, and answers the outcome. */
  async function changing(before: readonly object[], after: readonly object[]): Promise<string> {
    await capped(...before);
    const holds = `cost-caps-${++windowSeconds}`;
    const content = script({ text: ["Wait"], calls: [SURVEY], holds }, { text: ["done"] });
    const response = await postChat({ messages: [{ role: "user", content }] }, "bendable");
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    while (!(await reader?.read())?.value?.includes("Wait"));
    await capped(...after);
    await fetch(releaseUrl(holds));
    const ended = await untilState(runIdOf(response), { status: "completed" }, "bendable");
    return ended.toolCalls[0]?.outcome ?? "";
  }

  test("holds as soon as it is lower, and the pinned one stays the ceiling", async () => {
    const [low, high] = [{ maxCost: 1 }, { maxCost: 2 }];
    expect(await changing([{ ...high, ...nextWindow() }], [{ ...low, ...nextWindow() }])).toBe(
      "BUDGET_EXHAUSTED",
    );
    expect(await changing([{ ...low, ...nextWindow() }], [])).toBe("BUDGET_EXHAUSTED");
    expect(bought).toEqual([]);
    expect(await changing([{ ...high, ...nextWindow() }], [])).toBe("SUCCESS");
  });
});

test("nobody is asked about a call that a cap leaves no room for, and a lower cap asks again", async () => {
  const asks = { ...POLICY, requireApprovalForEffects: ["state_change"] };
  const window = nextWindow();
  await govern({ ...asks, costCaps: [{ maxCost: 1, ...window }] });
  expect(await tryIt()).toBe(FULL);
  await govern({ ...asks, costCaps: [{ maxCost: 4, ...window }] });
  const content = script({ calls: [SURVEY] }, { text: ["done"] });
  const runId = runIdOf(await postChat({ messages: [{ role: "user", content }] }, "victor"));
  const [first = ""] = openOf(await untilState(runId, { status: "waiting" }, "victor"));
  await govern({ ...asks, costCaps: [{ maxCost: 3, ...window }] });
  expect((await decide(first, "victor", APPROVE)).status).toBe(409);
  const next = first.replace(/_1$/, "_2");
  await untilState(runId, { status: "waiting", toolCalls: [{ approvalId: next }] }, "victor");
  expect((await decide(next, "victor", APPROVE)).status).toBe(200);
  await untilState(runId, { status: "completed" }, "victor");
  expect(bought).toEqual(["survey tea"]);
});

test("a cap of an unknown tool is refused with its place", async () => {
  const etag = (await send("/v1/policy", { caller: "bendable" })).headers.get("etag") ?? "";
  const document = { ...POLICY, costCaps: [{ tools: ["lab__survey", "lab__none"], maxCost: 1 }] };
  const answer = await putPolicy(document, { caller: "bendable", "if-match": etag });
  const errors = [{ pointer: "/costCaps/0/tools/1" }];
  expect([answer.status, await answer.json()]).toMatchObject([422, { errors }]);
});
