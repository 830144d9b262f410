import { describe, expect, test } from "vitest";
import { fail, ok } from "../../src/protocol/outcome/result.ts";
import { CallHistory } from "../../src/runner/call-history.ts";
import { benchFor, endOf } from "../fakes/runner-ports.ts";
import { noteTool, readTool } from "../shared/tools.ts";

describe("repair", () => {
  test("the same arguments refused in a second step end the tool for this run", async () => {
    const { tool, reached } = noteTool();
    const { call, runner } = benchFor([tool]);
    const first = await call("test__note", { text: 7 });
    expect(first.observation.status.repairable).toBe(true);
    expect(runner.isWithdrawn("test__note")).toBe(false);
    const second = await call("test__note", '{ "text" : 7 }');
    expect(second.observation.status).toMatchObject({
      taxonomy_class: "TYPE_MISMATCH",
      repairable: false,
    });
    expect(second.observation.result_payload.errors.at(-1)?.code).toBe("repair_ended");
    expect(second.response.next_action).toBe("proceed_without_tool");
    expect(runner.isWithdrawn("test__note")).toBe(true);
    const third = await call("test__note", { text: "right" });
    expect(endOf(third)).toEqual(["BUDGET_EXHAUSTED", "tool_withdrawn"]);
    expect(third.observation.result_payload.errors.length).toBe(1);
    expect(third.response.next_action).toBe("proceed_without_tool");
    expect(reached).toEqual([]);
  });

  test("the same arguments are the same however they are spelt, also to a rule", async () => {
    const rules = [{ code: "no", message: "no", holds: () => false }];
    const { tool } = noteTool({ rules });
    const { call, runner } = benchFor([tool]);
    await call("test__note", '{"text":"hi","amount":1}');
    expect(runner.isWithdrawn("test__note")).toBe(false);
    await call("test__note", '{ "amount": 1.0, "text": "hi" }');
    expect(runner.isWithdrawn("test__note")).toBe(true);
  });

  test("the same mistake with other arguments ends it at the third time", async () => {
    const { tool } = noteTool();
    const { call, runner } = benchFor([tool]);
    await call("test__note", { text: 1 });
    await call("test__note", { text: 2 });
    expect(runner.isWithdrawn("test__note")).toBe(false);
    await call("test__note", { text: 3 });
    expect(runner.isWithdrawn("test__note")).toBe(true);
  });

  test("the policy bounds the attempts, whatever the mistakes", async () => {
    const { tool } = noteTool();
    const policy = { allowedTools: ["test__note"], budgets: { maxRepairs: 1 } };
    const { call, runner } = benchFor([tool], { policy });
    await call("test__note", { text: 1 });
    expect(runner.isWithdrawn("test__note")).toBe(false);
    await call("test__note", {});
    expect(runner.isWithdrawn("test__note")).toBe(true);
  });

  test("a mended call forgives what was before it", async () => {
    const { tool } = noteTool();
    const { call, runner } = benchFor([tool]);
    for (let round = 0; round < 3; round++) {
      await call("test__note", { text: 1 });
      expect((await call("test__note", { text: `right ${round}` })).ok).toBe(true);
    }
    expect(runner.isWithdrawn("test__note")).toBe(false);
  });

  test("calls of one step are one attempt, for none of them knew of the others", async () => {
    const { tool } = noteTool();
    const { call, runner } = benchFor([tool]);
    const refuse = (step: number, ids: readonly string[]) =>
      Promise.all(ids.map((id) => call("test__note", { text: 1, [id]: 1 }, { step, id })));
    await refuse(1, ["a", "b", "c", "d", "e", "f"]);
    await refuse(2, ["g", "h", "i"]);
    expect(runner.isWithdrawn("test__note")).toBe(false);
    const results = await refuse(3, ["j", "k"]);
    expect(runner.isWithdrawn("test__note")).toBe(true);
    expect(results.map(({ response }) => response.next_action)).toEqual([
      "proceed_without_tool",
      "proceed_without_tool",
    ]);
  });

  test("steps are counted whatever the mistakes, and once for all mistakes of a step", async () => {
    const { tool } = noteTool();
    const policy = { allowedTools: ["test__note"], budgets: { maxRepairs: 1 } };
    const { call, runner } = benchFor([tool], { policy });
    await call("test__note", { text: 1 }, { step: 1, id: "a" });
    await call("test__note", {}, { step: 1, id: "b" });
    expect(runner.isWithdrawn("test__note")).toBe(false);
    await call("test__note", { text: "hi", amount: "x" }, { step: 2, id: "c" });
    expect(runner.isWithdrawn("test__note")).toBe(true);
  });

  test("two equal calls of one step are one mistake", async () => {
    const { tool } = noteTool();
    const { call, runner } = benchFor([tool]);
    await call("test__note", { text: 1 }, { step: 1, id: "a" });
    await call("test__note", { text: 1 }, { step: 1, id: "b" });
    expect(runner.isWithdrawn("test__note")).toBe(false);
  });
});

describe("the same call with the same result", () => {
  test("is told at the third time and not made at the fourth", async () => {
    const { tool, keys } = readTool([() => ok({ text: "pending" })]);
    const { call } = benchFor([tool]);
    const warnings: unknown[] = [];
    for (let round = 0; round < 3; round++) {
      const { observation } = await call("test__read", {});
      warnings.push(observation.result_payload.warnings.length);
    }
    expect(warnings).toEqual([0, 0, 1]);
    expect(endOf(await call("test__read", {}))).toEqual(["BUDGET_EXHAUSTED", "doom_loop"]);
    expect(keys.length).toBe(3);
    expect((await call("test__read", { id: "other" })).ok).toBe(true);
  });

  test("is no loop while the result changes: a poll goes on", async () => {
    let polls = 0;
    const { tool } = readTool([() => ok({ text: `${Math.floor(polls++ / 2)} percent` })]);
    const { call } = benchFor([tool]);
    for (let round = 0; round < 12; round++) expect((await call("test__read", {})).ok).toBe(true);
  });

  test("is no loop when something else was done in between", async () => {
    const { tool } = readTool([() => ok({ text: "same" })]);
    const { tool: note } = noteTool();
    const { call } = benchFor([tool, note]);
    for (let round = 0; round < 5; round++) {
      expect((await call("test__read", {})).ok).toBe(true);
      expect((await call("test__note", { text: `${round}` })).ok).toBe(true);
    }
  });

  test("is one when what was done in between failed", async () => {
    const { tool, keys } = readTool([() => ok({ text: "same" })]);
    const stale = { taxonomyClass: "STALE_STATE" as const, errors: [] };
    const { tool: note } = noteTool({ execute: () => fail(stale) });
    const { call } = benchFor([tool, note]);
    for (let round = 0; round < 5; round++) {
      await call("test__read", {}, { step: 2 * round + 1 });
      await call("test__note", { text: `${round}` }, { step: 2 * round + 2 });
    }
    expect(keys.length).toBe(3);
  });

  test("counts failures too: a tool that breaks the same way is not asked for ever", async () => {
    const { tool, keys } = readTool([
      () => {
        throw new Error("broken");
      },
    ]);
    const { call } = benchFor([tool]);
    for (let round = 0; round < 6; round++) await call("test__read", {});
    expect(keys.length).toBe(3);
  });
});

describe("the history of a run", () => {
  test("lets four steps be mended where policy says nothing", () => {
    const history = new CallHistory(undefined);
    const ends = [1, 2, 3, 4, 5].map((step) => {
      const print = { argumentsFingerprint: `${step}`, resultFingerprint: `${step}` };
      const failure = { failureClass: "TYPE_MISMATCH", begun: false, changed: false } as const;
      return history.take({ toolId: "t", step, lesson: { ...print, ...failure } }).ends;
    });
    expect(ends).toEqual([false, false, false, false, true]);
  });

  test("forgets the results of the calls that were not made for longest", () => {
    const history = new CallHistory(undefined);
    const note = (argumentsFingerprint: string): boolean => {
      const lesson = {
        argumentsFingerprint,
        resultFingerprint: "same",
        begun: true,
        changed: false,
      };
      return history.take({ toolId: "t", step: 1, lesson }).isLooping;
    };
    note("stale");
    note("stale");
    note("fresh");
    note("fresh");
    for (let index = 0; index < 998; index++) note(`${index}`);
    expect(note("fresh")).toBe(true);
    note("one more");
    expect(note("stale")).toBe(false);
    expect(history.isLooping("t", "fresh")).toBe(true);
  });
});
