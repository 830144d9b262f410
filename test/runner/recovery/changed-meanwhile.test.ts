import { describe, expect, test } from "vitest";
import { benchFor, endOf, passing } from "../../../src/testing/fakes/runner-ports.ts";
import { never } from "../answers.ts";
import {
  ARGS,
  AT,
  COMMITTED,
  IDEMPOTENT,
  NAME,
  crashWhileRunning,
  recordOf,
  toolOf,
  works,
} from "./interrupted-call.ts";
import { AS_READ, noteTool } from "../../shared/tools.ts";

describe("when a run resumes and", () => {
  test("the tool has another version, a write is not retried and the new version is not called", async () => {
    const { tool, keys } = toolOf([never, works], IDEMPOTENT);
    const stored = await crashWhileRunning(tool);
    for (const change of [IDEMPOTENT, { reconcile: COMMITTED }, AS_READ]) {
      const next = toolOf([works], { ...change, version: "2.0.0" });
      const bench = benchFor([next.tool], { stored });
      expect(await passing(bench.ask(NAME, ARGS, AT), bench.clock)).toBe("waiting");
      expect(next.keys).toEqual([]);
      expect(bench.journal.records).toMatchObject([{ state: "PENDING", dispatches: 1 }]);
    }
    expect(keys.length).toBe(1);
  });

  test("a read tool has become a write tool, the old read fails", async () => {
    const { tool } = toolOf([never], AS_READ);
    const stored = await crashWhileRunning(tool);
    const next = toolOf([works], { version: "2.0.0" });
    const bench = benchFor([next.tool], { stored });
    expect(endOf((await bench.ask(NAME, ARGS, AT)) as never)[0]).toBe("SIGNATURE_MISMATCH");
    expect([next.keys.length, recordOf(bench).state]).toEqual([0, "FAILED_FINAL"]);
  });

  test("the policy no longer allows the tool, a write waits for an operator and a read is refused", async () => {
    const policy = { allowedTools: [] };
    const write = toolOf([never, works], IDEMPOTENT);
    const bench = benchFor([write.tool], { policy, stored: await crashWhileRunning(write.tool) });
    expect(await bench.ask(NAME, ARGS, AT)).toBe("waiting");
    const read = toolOf([never, works], AS_READ);
    const other = benchFor([read.tool], { policy, stored: await crashWhileRunning(read.tool) });
    expect(endOf((await other.ask(NAME, ARGS, AT)) as never)[0]).toBe("POLICY_VIOLATION");
    expect([write.keys.length, read.keys.length]).toEqual([1, 1]);
  });

  test("the tool no longer exists, a write waits for an operator and a read fails", async () => {
    const { tool: other } = noteTool({ name: "test__other" });
    const write = toolOf([never], IDEMPOTENT);
    const bench = benchFor([other], { stored: await crashWhileRunning(write.tool) });
    expect(await bench.ask(NAME, ARGS, AT)).toBe("waiting");
    expect(recordOf(bench)).toMatchObject({ state: "PENDING", awaitedUntilMs: expect.any(Number) });
    const read = toolOf([never], AS_READ);
    const gone = benchFor([other], { stored: await crashWhileRunning(read.tool) });
    expect(endOf((await gone.ask(NAME, ARGS, AT)) as never)).toEqual([
      "STRUCTURAL_VIOLATION",
      "unknown_tool",
    ]);
  });

  test("a steering message waits, a dispatched call continues", async () => {
    const inbox = { hasSteering: true };
    for (const change of [AS_READ, IDEMPOTENT]) {
      const { tool } = toolOf([never, works], change);
      const bench = benchFor([tool], { inbox, stored: await crashWhileRunning(tool) });
      expect(await bench.ask(NAME, ARGS, AT)).toMatchObject({ ok: true });
    }
  });
});
