import { describe, expect, test } from "vitest";
import type { ToolInvocationRecord } from "../../../src/protocol/invocation/record.ts";
import { ok } from "../../../src/protocol/outcome/result.ts";
import {
  benchFor,
  drainPromises,
  endOf,
  passing,
} from "../../../src/testing/fakes/runner-ports.ts";
import { never } from "../answers.ts";
import { ARGS, AT, NAME, crashWhileRunning, recordOf, toolOf, works } from "./interrupted-call.ts";
import { noteTool } from "../../shared/tools.ts";

const TURNED_AWAY = { passed: [], refusedBy: "ledger" };

describe("the same operation called again", () => {
  test("while it runs is a conflict and does not change it", async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const { tool, keys } = toolOf([() => promise]);
    const bench = benchFor([tool]);
    const first = bench.ask(NAME, ARGS, AT);
    await drainPromises();
    const before = recordOf(bench);
    const second = await bench.call(NAME, ARGS, AT);
    expect(endOf(second)).toEqual(["IDEMPOTENCY_CONFLICT", "in_progress"]);
    expect(second).toMatchObject({ state: "PENDING", errorCode: "execution" });
    expect(second.response).toMatchObject({ retryable: true, escalate: false });
    expect(recordOf(bench)).toBe(before);
    resolve(ok({ text: "done" }));
    expect(await first).toMatchObject({ ok: true });
    expect(keys.length).toBe(1);
    expect(bench.journal.events.filter(({ type }) => type === "tool_call_result").length).toBe(1);
  });

  test("while it waits for the lock is a conflict", async () => {
    const { tool, keys } = toolOf([works]);
    const bench = benchFor([tool]);
    const [first, second] = [bench.ask(NAME, ARGS, AT), bench.ask(NAME, ARGS, AT)];
    expect(await first).toMatchObject({ ok: true });
    expect(endOf((await second) as never)[0]).toBe("IDEMPOTENCY_CONFLICT");
    expect(keys.length).toBe(1);
  });

  test.each([
    ["in this incarnation", []],
    ["in another incarnation", "again"],
  ])("after its end returns the stored outcome, %s", async (_name, again) => {
    const { tool, keys } = toolOf([works]);
    const first = benchFor([tool]);
    const done = await first.call(NAME, ARGS, AT);
    const stored = first.journal.records;
    const bench = again === "again" ? benchFor([tool], { stored }) : first;
    const events = bench.journal.events.length;
    const result = await bench.call(NAME, ARGS, AT);
    expect(result.observation.execution_metadata.idempotency_hit).toBe(true);
    const { execution_metadata: _then, ...shown } = done.observation;
    expect(result.observation).toMatchObject(shown);
    expect(result).toMatchObject({ ok: true, state: "COMPLETED", value: { text: "done" } });
    expect([keys.length, bench.journal.events.length]).toEqual([1, events]);
  });

  test("with a truncation flag that differs is refused", async () => {
    const { tool } = toolOf([works]);
    const bench = benchFor([tool]);
    await bench.call(NAME, ARGS, AT);
    const [record] = bench.journal.records;
    const stored = [{ ...(record as ToolInvocationRecord), truncated: true }];
    const result = await benchFor([tool], { stored }).call(NAME, ARGS, AT);
    expect(endOf(result)[0]).toBe("SIGNATURE_MISMATCH");
  });

  test.each([
    ["other arguments", NAME, { text: "other" }],
    ["another tool", "test__other", ARGS],
  ])("with %s is refused and does not change it", async (_name, name, args) => {
    const { tool: other, reached } = noteTool({ name: "test__other" });
    const { tool, keys } = toolOf([never, works]);
    const stored = await crashWhileRunning(tool);
    const ended = benchFor([tool, other]);
    await passing(ended.ask(NAME, ARGS, { ...AT, step: 2 }), ended.clock);
    for (const records of [
      stored,
      [{ ...(stored[0] as ToolInvocationRecord), awaitedUntilMs: 9 }],
    ]) {
      const bench = benchFor([tool, other], { stored: records });
      const result = await bench.call(name, args, AT);
      expect(endOf(result)).toEqual(["SIGNATURE_MISMATCH", "other_payload"]);
      expect(result).toMatchObject({ ok: false, state: "PENDING" });
      expect([bench.journal.records, bench.journal.events]).toEqual([[], []]);
      expect(bench.journal.audits).toEqual([
        expect.objectContaining({ toolId: name, reason: "other_payload", gates: TURNED_AWAY }),
      ]);
    }
    const result = await ended.call(name, args, { ...AT, step: 2 });
    expect(endOf(result)[0]).toBe("SIGNATURE_MISMATCH");
    expect(result.value).toBeUndefined();
    expect([keys.length, reached.length]).toEqual([2, 0]);
  });
});
