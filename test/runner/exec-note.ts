import * as v from "valibot";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import type { ToolCallId } from "../../src/protocol/identity/ids.ts";
import type { ToolExecResult } from "../../src/protocol/invocation/record.ts";
import { ok } from "../../src/protocol/outcome/result.ts";
import type { ToolCall } from "../../src/protocol/tool/call.ts";
import type { FakeClock } from "../../src/testing/time/fake-clock.ts";
import type { MemoryJournal } from "../../src/testing/memory/memory-journal.ts";
import { benchFor, contextOf, passing } from "../../src/testing/fakes/runner-ports.ts";
import { AS_READ } from "../shared/tools.ts";

export const ALLOW = { allowedTools: ["test__note"] };

export interface NoteCall {
  /** The tool is a read tool. */
  readonly reads?: boolean;
  readonly policy?: object;
  readonly execute?: () => unknown;
  readonly abort?: AbortSignal;
  readonly call?: Partial<ToolCall>;
}

/** Runs one call of a tool that records its arguments. */
export async function execNote(setup: NoteCall = {}): Promise<{
  readonly result: ToolExecResult;
  readonly reached: readonly unknown[];
  readonly journal: MemoryJournal;
  readonly clock: FakeClock;
}> {
  const reached: unknown[] = [];
  const note = defineTool({
    name: "test__note",
    version: "1.0.0",
    description: "Notes.",
    input: v.strictObject({
      text: v.pipe(v.string(), v.maxLength(10)),
      size: v.optional(v.pipe(v.number(), v.minValue(1))),
      secret: v.optional(v.string()),
    }),
    output: v.strictObject({ text: v.string(), token: v.string() }),
    sideEffectClass: "LOW_RISK_INTERNAL",
    effect: "state_change",
    ...(setup.reads === true && AS_READ),
    redaction: { args: ["text"], output: ["text"] },
    capabilities: [],
    runtime: { maxRetries: 0, timeoutMs: 1000, maxArgumentsBytes: 200, maxResultBytes: 200 },
    execute(args) {
      reached.push(args);
      return (setup.execute?.() ?? ok({ text: args.text, token: "s3cret" })) as never;
    },
  });
  const { runner, clock, journal } = benchFor([note], { policy: setup.policy ?? ALLOW });
  const call: ToolCall = {
    toolCallId: "call_1" as ToolCallId,
    name: "test__note",
    argumentsText: '{"text":"hi"}',
    truncated: false,
    ...setup.call,
  };
  const { signal } = new AbortController();
  const pending = runner.exec(call, contextOf(call.toolCallId), setup.abort ?? signal);
  const result = await passing(pending, clock);
  if (result === "waiting") throw new Error("the call waits for an operator");
  return { result, reached, journal, clock };
}
