import * as v from "valibot";
import { beforeEach, describe, expect, test } from "vitest";
import type { RunEvidence } from "../../../src/loop/replay/evidence.ts";
import type { AiEvent } from "../../../src/protocol/run/event.ts";
import { forbiddenCalls, happen, replay } from "../../../src/testing/fakes/evidence.ts";
import { policyOf } from "../../../src/testing/fakes/fakes.ts";
import { noteTool } from "../../shared/tools.ts";

beforeEach(() => {
  forbiddenCalls.length = 0;
});

const note = (change: object = {}) => noteTool(change).tool;
const noting = (text: string) => ["test__note", { text }] as const;

describe("what was changed afterwards", () => {
  const hidden = {
    input: v.strictObject({ text: v.string(), secret: v.optional(v.string()) }),
  };
  const contracts = (change: object = {}) => [note({ ...hidden, ...change })];
  const record = () =>
    happen({
      contracts: contracts(),
      answers: [
        { text: "see", calls: [["test__note", { text: "a", secret: "s" }]] },
        { text: "so" },
      ],
    });

  async function hashesOf(
    evidence: RunEvidence,
    decidedBy: readonly unknown[] = contracts(),
  ): Promise<readonly [recorded: string, replayed: string]> {
    const { ok: isReplayed, ...rest } = await replay(evidence, decidedBy);
    if (!isReplayed || !("value" in rest)) throw new Error(JSON.stringify(rest));
    expect(forbiddenCalls).toEqual([]);
    return [rest.value.recorded, rest.value.replayed];
  }

  const edit = (log: readonly AiEvent[], from: string, to: string): readonly AiEvent[] => {
    const text = JSON.stringify(log);
    expect(text).toContain(from);
    return JSON.parse(text.replaceAll(from, to)) as AiEvent[];
  };

  test.each([
    ["a result", '"data":{"text":"a"}', '"data":{"text":"b"}'],
    ["a started call's arguments", '"args":{"text":"a"}', '"args":{"text":"b"}'],
    ["a tool's name", '"toolName":"test__note"', '"toolName":"test__other"'],
    ["a class", '"taxonomy_class":"SUCCESS"', '"taxonomy_class":"PARTIAL_SUCCESS"'],
    ["what was said", '"text":"so"', '"text":"no"'],
    ["the usage of a step", '"outputTokens":3', '"outputTokens":4'],
    ["the end", '"type":"done","reason":"stop"', '"type":"done","reason":"length"'],
  ])("in the log, %s, gives another hash", async (_, from, to) => {
    const evidence = await record();
    const [recorded] = await hashesOf(evidence);
    const [changed] = await hashesOf({ ...evidence, log: edit(evidence.log, from, to) });
    expect(changed).not.toBe(recorded);
  });

  test.each([
    ["a result", '"data":{"text":"a"}', '"data":{"text":"b"}'],
    ["a class", '"taxonomy_class":"SUCCESS"', '"taxonomy_class":"PARTIAL_SUCCESS"'],
  ])("in the log alone, %s, is not decided alike", async (_, from, to) => {
    const evidence = await record();
    const [recorded, replayed] = await hashesOf({
      ...evidence,
      log: edit(evidence.log, from, to),
    });
    expect(replayed).not.toBe(recorded);
  });

  test.each([
    ["its outcome", '"data":{"text":"a"}', '"data":{"text":"b"}'],
    ["arguments that are shown", '\\"text\\":\\"a\\"', '\\"text\\":\\"b\\"'],
    ["arguments that are not shown", '\\"secret\\":\\"s\\"', '\\"secret\\":\\"t\\"'],
    ["that it was dispatched", '"dispatches":1', '"dispatches":0'],
  ])("in a record, %s, is not decided alike", async (_, from, to) => {
    const evidence = await record();
    const text = JSON.stringify(evidence.invocations);
    expect(text).toContain(from);
    const invocations = JSON.parse(text.replaceAll(from, to)) as RunEvidence["invocations"];
    const [recorded, replayed] = await hashesOf({ ...evidence, invocations });
    expect(replayed).not.toBe(recorded);
  });

  test.each([
    ["what it allows", { allowedTools: [] }],
    [
      "what it wants of arguments",
      {
        allowedTools: ["test__note"],
        argumentRules: [{ tool: "test__note", field: "/text", must: { beOneOf: ["b"] } }],
      },
    ],
    ["whom it asks", { allowedTools: ["test__note"], requireApprovalForEffects: ["state_change"] }],
    ["its limit of steps", { allowedTools: ["test__note"], budgets: { maxSteps: 1 } }],
    ["its budgets", { allowedTools: ["test__note"], budgets: { maxTokens: 5 } }],
  ])("in the policy, %s, is not decided alike", async (_, document) => {
    const evidence = await record();
    const policy = { ...evidence.policy, policy: policyOf(document) };
    const [recorded, replayed] = await hashesOf({ ...evidence, policy });
    expect(replayed).not.toBe(recorded);
  });

  test("a policy that would have let more pass is not decided alike", async () => {
    const document = {
      allowedTools: ["test__note"],
      argumentRules: [{ tool: "test__note", field: "/text", must: { beOneOf: ["b"] } }],
    };
    const evidence = await happen({
      contracts: contracts(),
      policy: document,
      answers: [{ calls: [noting("a")] }, {}],
    });
    const policy = { ...evidence.policy, policy: policyOf({ allowedTools: ["test__note"] }) };
    const [recorded, replayed] = await hashesOf({ ...evidence, policy });
    expect(replayed).not.toBe(recorded);
  });

  test("a policy that would have let it go on is not decided alike", async () => {
    const limited = (maxSteps: number) => ({ allowedTools: ["test__note"], budgets: { maxSteps } });
    const answers = [{ calls: [noting("a")] }, { calls: [noting("b")] }, {}];
    const evidence = await happen({ contracts: contracts(), policy: limited(2), answers });
    const policy = { ...evidence.policy, policy: policyOf(limited(3)) };
    const [recorded, replayed] = await hashesOf({ ...evidence, policy });
    expect(replayed).not.toBe(recorded);
  });

  const rule = { code: "never", message: "expected another text", holds: () => false };
  test.each([
    ["its version", { version: "1.0.1" }],
    ["its input", { input: v.strictObject({ text: v.number() }) }],
    ["its rules", { rules: [{ ...rule, counterexample: { text: "a" } }] }],
    ["what it shows of arguments", { redaction: { args: [], output: ["text"] } }],
    ["what it shows of its output", { redaction: { args: ["text"], output: [] } }],
    ["its scopes", { security: { requiredScopes: ["notes:write"] } }],
    [
      "that a person has to approve",
      {
        transactional: { confirmationRequired: true },
        describe: () => ({ action: "Note", consequence: "It is noted." }),
      },
    ],
  ])("in the contract, %s, is not decided alike", async (_, change) => {
    const [recorded, replayed] = await hashesOf(await record(), contracts(change));
    expect(replayed).not.toBe(recorded);
  });
});
