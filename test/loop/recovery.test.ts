import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { StopReason } from "../../src/protocol/run/facts.ts";
import {
  type Plan,
  type Story,
  replayOf,
  tell,
  expectOrder,
  MODEL_BEHAVIOURS,
  TOOLS,
  HOWS,
} from "./crash-stories.ts";
import { sampleOfRuns } from "../shared/sample.ts";

const FULL: Plan = [
  {
    model: "speaks",
    calls: [
      { tool: "read", how: "works" },
      { tool: "unsure", how: "works" },
    ],
  },
  { model: "stalls", calls: [{ tool: "keyed", how: "acts and hangs" }] },
  {
    model: "is refused",
    calls: [
      { tool: "sure", how: "acts and throws" },
      { tool: "unsure", how: "refuses" },
      { tool: "read", how: "hangs" },
    ],
  },
];

test("a run that nothing cuts short goes through its plan", async () => {
  const story = await tell({ plan: FULL, cuts: [] });
  expectOrder(story);
  expect([...story.storage.records.values()].map(({ state }) => state)).toEqual(
    Array.from({ length: 6 }, () => "COMPLETED"),
  );
  expect(story.storage.events.at(-1)).toMatchObject({ reason: "stop" });
  expect(story.world.modelCalls).toBe(5);
});

test("an incarnation cut after any write and its successor make one run", async () => {
  const { writes } = await tell({ plan: FULL, cuts: [] });
  const [count = 0] = writes;
  expect(count).toBeGreaterThan(30);
  for (let cut = 1; cut <= count; cut++) {
    const story = await tell({ plan: FULL, cuts: [cut] });
    expectOrder(story);
    expect([cut, await replayOf(story)]).toEqual([cut, "equal"]);
    expect(story.storage.events.at(-1), `cut after ${cut}`).toMatchObject({ reason: "stop" });
  }
});

test("a run ends with its call of unknown outcome", async () => {
  const calls = [
    { tool: "unsure", how: "acts and hangs" },
    { tool: "read", how: "works" },
  ] as const;
  const story = await tell({ plan: [{ model: "speaks", calls }], cuts: [], isDeserted: true });
  expectOrder(story);
  expect(story.world.modelCalls).toBe(1);
  expect(story.storage.events.at(-1)).toMatchObject({ error: { code: "outcome_unknown" } });
});

test.each(["cancelled", "time", "interrupted"] as const)(
  "a incarnation that is cut after any of its writes, and then stopped as %s, ends in order",
  async (reason) => {
    const { writes } = await tell({ plan: FULL, cuts: [] });
    const [count = 0] = writes;
    for (let cut = 1; cut < count; cut += 2) {
      const story = await tell({
        plan: FULL,
        cuts: [cut],
        stop: { incarnation: 1, afterWrites: 0, reason },
      });
      expectOrder(story);
      expect([cut, await replayOf(story)]).toEqual([cut, "equal"]);
      const end = story.storage.events.at(-1);
      expect(end).toMatchObject({ reason: reason === "cancelled" ? reason : "error" });
    }
  },
);

const plans: fc.Arbitrary<Plan> = fc.array(
  fc.record({
    model: fc.constantFrom(...MODEL_BEHAVIOURS),
    calls: fc.array(fc.record({ tool: fc.constantFrom(...TOOLS), how: fc.constantFrom(...HOWS) }), {
      minLength: 1,
      maxLength: 3,
    }),
  }),
  { maxLength: 4 },
);
const stories: fc.Arbitrary<Story> = fc.record(
  {
    plan: plans,
    cuts: fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 6 }),
    stop: fc.record({
      incarnation: fc.nat(4),
      afterWrites: fc.nat(30),
      reason: fc.constantFrom<StopReason>("cancelled", "time", "interrupted"),
    }),
    isDeserted: fc.boolean(),
  },
  { requiredKeys: ["plan", "cuts"] },
);

test("however often a run is cut, and whatever fails meanwhile, its end is in order and decided again alike", async () => {
  await fc.assert(
    fc.asyncProperty(stories, async (story) => {
      const told = await tell(story);
      expectOrder(told);
      expect(await replayOf(told)).toBe("equal");
    }),
    sampleOfRuns(200),
  );
});

test.each([{ maxSteps: 2 }, { maxTokens: 5_000, maxOutputTokens: 1_000 }])(
  "a run whose attempts used up %j is decided again alike, wherever crashes cut it",
  async (budgets) => {
    const ends = new Set<unknown>();
    for (let cut = 1; cut < 50; cut += 3) {
      const story = await tell({ plan: FULL, cuts: [cut, 3, 2, 2], budgets });
      expect([cut, await replayOf(story)]).toEqual([cut, "equal"]);
      const end = story.storage.events.at(-1);
      if (end?.type === "done") ends.add(end.error?.code ?? end.reason);
    }
    expect(ends).toContain("maxSteps" in budgets ? "step_limit" : "budget_exhausted");
  },
);

test("a run that was only closed is decided again alike, or up to its last whole step", async () => {
  const answers: string[] = [];
  for (let cut = 1; cut < 50; cut += 3) {
    answers.push(await replayOf(await tell({ plan: FULL, cuts: [cut], closedBy: 1 })));
  }
  // In its first step there is nothing before the cut.
  expect(new Set(answers)).toEqual(new Set(["equal", "equal until interrupted", "interrupted"]));
  // Without the cut, the replay of a run that was closed between two writes would go on.
  const whole = answers.filter((answer) => answer === "equal");
  expect(whole.length).toBeGreaterThan(answers.length / 3);
});
