import { describe, expect, test } from "vitest";
import type { ToolHook } from "../../../src/capabilities/hook.ts";
import { ACME, ANN, benchFor, endOf, passing } from "../../../src/testing/fakes/runner-ports.ts";
import { ok } from "../../../src/protocol/outcome/result.ts";
import { never } from "../answers.ts";
import { refuse } from "../refused-call.ts";
import { PNG } from "../../shared/files.ts";
import { AS_READ, noteTool } from "../../shared/tools.ts";

const veto = { code: "frozen", message: "no changes on Fridays" };

describe("hooks", () => {
  test.each<[string, ToolHook, readonly string[]]>([
    ["it vetoes", { before: () => Promise.resolve(veto) }, ["POLICY_VIOLATION", "frozen"]],
    [
      "it throws",
      {
        before: () => {
          throw new Error("s3cret");
        },
      },
      ["POLICY_VIOLATION", "hook_failed"],
    ],
  ])("a hook refuses a call before the budget is reserved: %s", async (_name, hook, end) => {
    const never: ToolHook = { before: () => Promise.reject(new Error("asked after a veto")) };
    expect(await refuse({ hooks: [hook, never] })).toEqual({
      end,
      asked: 1,
      reserved: 0,
      reached: 0,
    });
  });

  test("see redacted arguments and the call's context before the call", async () => {
    const seen: unknown[] = [];
    const hook: ToolHook = {
      before: async ({ shownArgs, context }) => {
        seen.push(shownArgs, context.subjectId);
        return undefined;
      },
    };
    const { tool } = noteTool();
    const principal = {
      tenantId: ACME,
      actorId: ANN,
      subjectId: "user:bob" as never,
      roles: [],
      scopes: [],
    };
    const { call } = benchFor([tool], { hooks: [hook], principal });
    expect((await call("test__note", { text: "hi", amount: 3 })).ok).toBe(true);
    expect(seen).toEqual([{ text: "hi" }, "user:bob"]);
  });

  test("withhold a result, and the failure states that the tool ran", async () => {
    const { tool, reached } = noteTool();
    const seen: unknown[] = [];
    const hook: ToolHook = {
      after: (call, observation) => {
        seen.push([call.shownArgs, observation.result_payload.data]);
        return Promise.resolve(veto);
      },
    };
    const { call, journal } = benchFor([tool], { hooks: [hook] });
    const result = await call("test__note", { text: "hi", amount: 3 });
    expect(seen).toEqual([[{ text: "hi" }, { text: "hi" }]]);
    expect(reached.length).toBe(1);
    expect(endOf(result)).toEqual(["POLICY_VIOLATION", "frozen"]);
    expect(result.observation.result_payload.errors[0]?.message).toContain("the tool ran");
    expect(result.observation.result_payload.data).toBeNull();
    expect(journal.events.at(-1)).toMatchObject({ observation: result.observation });
  });

  test("see the content beside a result, and withhold it too", async () => {
    const { tool } = noteTool({
      content: { maxTextBytes: 100, maxImages: 1 },
      execute: () => ({
        ...ok({ text: "hi" }),
        content: [
          { type: "text", text: "secret plan" },
          { type: "image", mediaType: "image/png", base64: PNG },
        ],
      }),
    });
    const seen: unknown[] = [];
    const hook: ToolHook = {
      after: (_call, _observation, content) => {
        seen.push(content);
        return Promise.resolve(veto);
      },
    };
    const { call, journal } = benchFor([tool], { hooks: [hook] });
    const result = await call("test__note", { text: "hi" });
    const bytes = atob(PNG).length;
    expect(seen).toEqual([
      [
        { type: "text", text: "secret plan" },
        { type: "image", mediaType: "image/png", bytes },
      ],
    ]);
    expect(result).not.toHaveProperty("content");
    expect(JSON.stringify(journal.events)).not.toContain("secret plan");
    expect([...journal.files]).toEqual([]);
    const open = benchFor([tool]);
    expect((await open.call("test__note", { text: "hi" })).content).toHaveLength(2);
    expect([...open.journal.files.values()]).toEqual([PNG]);
  });

  test.each<[string, ToolHook, number]>([
    ["before the call", { before: never }, 0],
    ["after the call", { after: never }, 1],
  ])("that never answer veto: %s", async (_name, hook, ran) => {
    const { tool, reached } = noteTool();
    const { call, clock } = benchFor([tool], { hooks: [hook] });
    const result = await passing(call("test__note", { text: "hi" }), clock);
    expect(endOf(result)).toEqual(["POLICY_VIOLATION", "hook_failed"]);
    expect(result.observation.execution_metadata.latency_ms).toBe(5_000);
    expect([reached.length, clock.waiting]).toEqual([ran, 0]);
  });

  test("replace a failure's message and keep its class and its next action", async () => {
    const { tool } = noteTool({ ...AS_READ, execute: never });
    const hook: ToolHook = { after: () => Promise.resolve(veto) };
    const { call, clock } = benchFor([tool], { hooks: [hook] });
    const result = await passing(call("test__note", { text: "hi" }), clock);
    expect(endOf(result)).toEqual(["TIMEOUT", "frozen"]);
    expect(result.response).toMatchObject({ retryable: true, next_action: "retry_later" });
  });

  test("see the outcome of a cancelled tool", async () => {
    const abort = new AbortController();
    const { tool } = noteTool({ ...AS_READ, execute: () => (abort.abort(), never()) });
    const seen: unknown[] = [];
    const hook: ToolHook = {
      after: async (_call, { status }) => {
        seen.push(status.taxonomy_class);
        return undefined;
      },
    };
    const { call } = benchFor([tool], { hooks: [hook] });
    const result = await call("test__note", { text: "hi" }, { signal: abort.signal });
    expect(endOf(result)).toEqual(["UNKNOWN_ERROR", "cancelled"]);
    expect(seen).toEqual(["UNKNOWN_ERROR"]);
  });
});
