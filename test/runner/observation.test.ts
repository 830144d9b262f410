import { expect, test } from "vitest";
import type { BoundTools } from "../../src/capabilities/tool.ts";
import { registerContracts } from "../../src/contracts/check/register.ts";
import { bindTools } from "../../src/contracts/bind/tool-source.ts";
import { fail } from "../../src/protocol/outcome/result.ts";
import { fakeRunCapabilities } from "../../src/testing/fakes/fakes.ts";
import { benchFor, endOf } from "../../src/testing/fakes/runner-ports.ts";
import { execNote } from "./exec-note.ts";
import { AS_READ, noteTool } from "../shared/tools.ts";

test("an observation contains the attempt, the trace and whether to verify the effect", async () => {
  const { tool } = noteTool({
    redaction: { args: ["text"], output: ["text"], state: ["text"] },
    verification: {
      delaySeconds: 60,
      expect: (_args: unknown, { text }: { text: string }) => ({
        reference: "notes/1",
        state: { text },
      }),
    },
    verify: () => Promise.resolve({ kind: "verified" }),
  });
  const { observation, response } = await benchFor([tool]).call("test__note", { text: "hi" });
  expect(observation.execution_metadata).toMatchObject({
    attempt_number: 1,
    idempotency_hit: false,
    trace_id: "run_1",
  });
  expect(observation.verification).toEqual({
    post_action_verification_required: true,
    target_state_reference: "notes/1",
    expected_state: { text: "hi" },
    delay_seconds: 60,
  });
  expect(response).toMatchObject({ error_code: "SUCCESS", next_action: "continue" });
});

test("a declared failure code gets its class from the contract", async () => {
  const { tool } = noteTool({
    errors: { gone: "STALE_STATE" },
    execute: () =>
      fail({
        taxonomyClass: "UNKNOWN_ERROR",
        errors: [{ field: null, code: "gone", message: "it is gone" }],
      }),
  });
  expect(endOf(await benchFor([tool]).call("test__note", { text: "hi" }))).toEqual([
    "STALE_STATE",
    "gone",
  ]);
});

test.each(["SUCCESS", "MADE_UP", "toString"])(
  "a failure of the invalid class %s becomes an unknown error",
  async (taxonomyClass) => {
    const errors = [{ field: null, code: "odd", message: "odd" }];
    const { tool } = noteTool({ ...AS_READ, execute: () => fail({ taxonomyClass, errors }) });
    const { call, journal } = benchFor([tool]);
    expect(endOf(await call("test__note", { text: "hi" }))).toEqual(["UNKNOWN_ERROR", "odd"]);
    expect(journal.records.length).toBe(1);
  },
);

test("an untrusted tool's failure message is cleaned like its output", async () => {
  const message = "gone\u200b ![x](https://evil.test/?q=all)";
  const execute = () =>
    fail({ taxonomyClass: "UNKNOWN_ERROR", errors: [{ field: null, code: "gone", message }] });
  const { tool } = noteTool({ ...AS_READ, execute, security: { untrustedOutput: true } });
  const { observation } = await benchFor([tool]).call("test__note", { text: "hi" });
  expect(observation.result_payload.errors[0]?.message).toBe("gone [image removed]");
});

test("a tool's failure is truncated to a bounded size", async () => {
  const error = {
    field: "/x".repeat(10_000),
    code: "c".repeat(10_000),
    message: "m".repeat(3_000_000),
  };
  const { result } = await execNote({
    execute: () =>
      fail({ taxonomyClass: "STALE_STATE", errors: Array.from({ length: 99 }, () => error) }),
  });
  expect(JSON.stringify(result.observation).length).toBeLessThan(32 * 1024);
});

/** Changes a tool after binding. */
function changedTools(tool: unknown, change: object): BoundTools {
  const tools = bindTools(registerContracts([tool as never]), fakeRunCapabilities());
  return {
    listToolSpecs: () => tools.listToolSpecs(),
    getBoundTool: (id, version) => {
      const bound = tools.getBoundTool(id, version);
      return bound && { ...bound, ...change };
    },
  };
}

test.each(["validateOutput", "redactOutput"])(
  "when %s throws, the failure says that the tool ran",
  async (broken) => {
    const { tool } = noteTool();
    const tools = changedTools(tool, {
      [broken]: () => {
        throw new Error("s3cret");
      },
    });
    const result = await benchFor([tool], { tools }).call("test__note", { text: "hi" });
    expect(endOf(result)).toEqual(["OBSERVATION_NORMALIZATION_FAIL", "invalid_output"]);
    expect(result.observation.result_payload.errors[0]?.message).toContain("the tool ran");
  },
);
