import { describe, expect, test } from "vitest";
import { MemoryJournal } from "../../../src/testing/memory/memory-journal.ts";
import { benchFor, endOf, passing } from "../../../src/testing/fakes/runner-ports.ts";
import { never } from "../answers.ts";
import { ARGS, AT, IDEMPOTENT, NAME, toolOf, works } from "./interrupted-call.ts";
import { AS_READ } from "../../shared/tools.ts";

describe("before a write runs", () => {
  test("its record is durably dispatched with the key that the tool gets", async () => {
    const seen: unknown[] = [];
    const { tool, keys } = toolOf([() => (seen.push(bench.journal.secured.at(-1)), works())]);
    const bench = benchFor([tool]);
    await bench.call(NAME, ARGS, AT);
    expect(seen).toMatchObject([
      [
        {
          state: "PENDING",
          dispatches: 1,
          amounts: {},
          binding: { idempotencyKey: keys[0], mutates: true, version: "1.0.0", shownArgs: ARGS },
        },
      ],
    ]);
  });

  test("the number of its next dispatch is durable", async () => {
    const seen: unknown[] = [];
    const { tool } = toolOf(
      [never, () => (seen.push(bench.journal.secured.at(-1)?.[0]?.dispatches), works())],
      { ...IDEMPOTENT, runtime: { maxRetries: 1 } },
    );
    const bench = benchFor([tool]);
    await passing(bench.ask(NAME, ARGS, AT), bench.clock);
    expect(seen).toEqual([2]);
  });

  test("a failure to store its record stops the call", async () => {
    class Journal extends MemoryJournal {
      override secure(): Promise<void> {
        return Promise.reject(new Error("s3cret"));
      }
    }
    const { tool, keys } = toolOf([works]);
    const bench = benchFor([tool], { journal: new Journal() });
    const result = await bench.call(NAME, ARGS, AT);
    expect(endOf(result)).toEqual(["UNKNOWN_ERROR", "tool_failed"]);
    expect([keys.length, result.state]).toEqual([0, "FAILED_FINAL"]);
  });

  test("a read does not wait for storage", async () => {
    const { tool } = toolOf([works], AS_READ);
    const bench = benchFor([tool]);
    await bench.call(NAME, ARGS, AT);
    expect(bench.journal.secured).toEqual([]);
  });
});
