import { describe, expect, test } from "vitest";
import { fail, ok } from "../../src/protocol/outcome/result.ts";
import { CallHistory } from "../../src/runner/call-history.ts";
import { benchFor, endOf } from "../../src/testing/fakes/runner-ports.ts";
import { noteTool, readTool } from "../shared/tools.ts";

describe("repairing refused arguments", () => {
  test("the same arguments refused in a second step withdraw the tool for this run", async () => {
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

  test("arguments count as the same regardless of key order and number format", async () => {
    const rules = [{ code: "no", message: "no", holds: () => false }];
    const { tool } = noteTool({ rules });
    const { call, runner } = benchFor([tool]);
    await call("test__note", '{"text":"hi","amount":1}');
    expect(runner.isWithdrawn("test__note")).toBe(false);
    await call("test__note", '{ "amount": 1.0, "text": "hi" }');
    expect(runner.isWithdrawn("test__note")).toBe(true);
  });

  test("the third mistake of one class withdraws the tool, with any arguments", async () => {
    const { tool } = noteTool();
    const { call, runner } = benchFor([tool]);
    await call("test__note", { text: 1 });
    await call("test__note", { text: 2 });
    expect(runner.isWithdrawn("test__note")).toBe(false);
    await call("test__note", { text: 3 });
    expect(runner.isWithdrawn("test__note")).toBe(true);
  });

  test("the policy limits the repair attempts across all classes of mistakes", async () => {
    const { tool } = noteTool();
    const policy = { allowedTools: ["test__note"], budgets: { maxRepairs: 1 } };
    const { call, runner } = benchFor([tool], { policy });
    await call("test__note", { text: 1 });
    expect(runner.isWithdrawn("test__note")).toBe(false);
    await call("test__note", {});
    expect(runner.isWithdrawn("test__note")).toBe(true);
  });

  test("a successful call resets the count of mistakes", async () => {
    const { tool } = noteTool();
    const { call, runner } = benchFor([tool]);
    for (let round = 0; round < 3; round++) {
      await call("test__note", { text: 1 });
      expect((await call("test__note", { text: `right ${round}` })).ok).toBe(true);
    }
    expect(runner.isWithdrawn("test__note")).toBe(false);
  });

  test("all calls of one step count as one attempt, because none saw the others' failures", async () => {
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

  test("a step with several mistakes counts once against the policy's limit", async () => {
    const { tool } = noteTool();
    const policy = { allowedTools: ["test__note"], budgets: { maxRepairs: 1 } };
    const { call, runner } = benchFor([tool], { policy });
    await call("test__note", { text: 1 }, { step: 1, id: "a" });
    await call("test__note", {}, { step: 1, id: "b" });
    expect(runner.isWithdrawn("test__note")).toBe(false);
    await call("test__note", { text: "hi", amount: "x" }, { step: 2, id: "c" });
    expect(runner.isWithdrawn("test__note")).toBe(true);
  });

  test("two equal calls of one step count as one mistake", async () => {
    const { tool } = noteTool();
    const { call, runner } = benchFor([tool]);
    await call("test__note", { text: 1 }, { step: 1, id: "a" });
    await call("test__note", { text: 1 }, { step: 1, id: "b" });
    expect(runner.isWithdrawn("test__note")).toBe(false);
  });
});

describe("a repeated call with the same result", () => {
  test("carries a warning the third time and is refused the fourth time", async () => {
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

  test("is allowed while the result changes, so that polling works", async () => {
    let polls = 0;
    const { tool } = readTool([() => ok({ text: `${Math.floor(polls++ / 2)} percent` })]);
    const { call } = benchFor([tool]);
    for (let round = 0; round < 12; round++) expect((await call("test__read", {})).ok).toBe(true);
  });

  test("is allowed when another call changed something in between", async () => {
    const { tool } = readTool([() => ok({ text: "same" })]);
    const { tool: note } = noteTool();
    const { call } = benchFor([tool, note]);
    for (let round = 0; round < 5; round++) {
      expect((await call("test__read", {})).ok).toBe(true);
      expect((await call("test__note", { text: `${round}` })).ok).toBe(true);
    }
  });

  test("is refused when the call in between failed", async () => {
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

  test("is refused for failures too, so a broken tool is not called forever", async () => {
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

describe("the call history of a run", () => {
  test("allows four repair steps when the policy sets no limit", () => {
    const history = new CallHistory(undefined);
    const ends = [1, 2, 3, 4, 5].map((step) => {
      const print = { argumentsFingerprint: `${step}`, resultFingerprint: `${step}` };
      const failure = { failureClass: "TYPE_MISMATCH", begun: false, changed: false } as const;
      return history.take({ toolId: "t", step, lesson: { ...print, ...failure } }).ends;
    });
    expect(ends).toEqual([false, false, false, false, true]);
  });

  test("counts no refusal by people, and no such refusal forgives a mistake", () => {
    const history = new CallHistory(undefined);
    const take = (step: number, refusedByPeople: boolean) => {
      const argumentsFingerprint = refusedByPeople ? "refused" : `${step}`;
      const lesson = {
        argumentsFingerprint,
        resultFingerprint: "same",
        begun: false,
        changed: false,
        failureClass: "PERMISSION_DENIED" as const,
        ...(refusedByPeople && { refusedByPeople: true as const }),
      };
      return history.take({ toolId: "t", step, lesson }).ends;
    };
    const byPeople = [true, true, true, true, false, true, true, false, true, false];
    const ends = byPeople.map((isTheirs, step) => take(step, isTheirs));
    expect(ends.indexOf(true)).toBe(9);
  });

  test("forgets the least recent calls first", () => {
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
