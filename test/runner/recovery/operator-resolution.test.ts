import { describe, expect, test } from "vitest";
import type { ToolInvocationRecord } from "../../../src/protocol/invocation/record.ts";
import { ANN, benchFor, endOf } from "../../../src/testing/fakes/runner-ports.ts";
import { never } from "../answers.ts";
import { ARGS, AT, NAME, crashWhileRunning, recordOf, toolOf, works } from "./interrupted-call.ts";
import { noteTool } from "../../shared/tools.ts";

describe("an operator resolves an unknown outcome", () => {
  const resolveAs = async (
    outcome: "committed" | "not_committed" | "expired",
    contracts: unknown,
  ) => {
    const { tool, keys } = toolOf([never, works]);
    const [left] = await crashWhileRunning(tool);
    const resolution = { outcome, by: ANN, atMs: 8 };
    const stored = [{ ...(left as ToolInvocationRecord), awaitedUntilMs: 9, resolution }];
    const bench = benchFor([contracts ?? tool], { stored });
    const result = await bench.call(NAME, ARGS, AT);
    expect(keys.length).toBe(1);
    expect(bench.journal.events.map(({ type }) => type)).toEqual(["tool_call_result"]);
    return { result, record: recordOf(bench) };
  };
  const { tool: other } = noteTool({ name: "test__other" });

  test.each([undefined, other])(
    "committed: the call completes without output",
    async (contracts) => {
      const { result, record } = await resolveAs("committed", contracts);
      expect(record.state).toBe("COMPLETED");
      expect(result).toMatchObject({
        ok: true,
        state: "COMPLETED",
        observation: {
          tool_identity: { version: "1.0.0" },
          execution_metadata: { idempotency_hit: true },
          result_payload: { data: null },
        },
      });
      expect(result.value).toBeUndefined();
      expect(result.observation.result_payload.warnings[0]).toContain("operator confirmed");
    },
  );

  test.each([undefined, other])("not committed: the call fails as retryable", async (contracts) => {
    const { result, record } = await resolveAs("not_committed", contracts);
    expect(record.state).toBe("FAILED_RETRYABLE");
    expect(result.response).toMatchObject({ retryable: true, escalate: false });
    const codes = result.observation.result_payload.errors.map(({ code }) => code);
    expect(codes).toEqual(["interrupted", "not_committed"]);
  });

  test.each([undefined, other])("no answer in time: the call expires", async (contracts) => {
    const { result, record } = await resolveAs("expired", contracts);
    expect(record.state).toBe("EXPIRED");
    expect(endOf(result)).toEqual(["UNKNOWN_ERROR", "outcome_unknown"]);
    expect(result.response).toMatchObject({
      retryable: false,
      escalate: true,
      next_action: "reconcile_outcome",
    });
  });

  test("until then, every incarnation waits and reports the wait once", async () => {
    const { tool, keys } = toolOf([never, works]);
    const [left] = await crashWhileRunning(tool);
    const stored = [{ ...(left as ToolInvocationRecord), awaitedUntilMs: 9 }];
    const bench = benchFor([tool], { stored });
    expect([await bench.ask(NAME, ARGS, AT), await bench.ask(NAME, ARGS, AT)]).toEqual([
      "waiting",
      "waiting",
    ]);
    expect([bench.journal.events, keys.length]).toEqual([[], 1]);
  });
});
