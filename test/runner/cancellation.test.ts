import { describe, expect, test } from "vitest";
import { ok } from "../../src/protocol/outcome/result.ts";
import {
  benchFor,
  drainPromises,
  endOf,
  ledgerThat,
  passing,
} from "../../src/testing/fakes/runner-ports.ts";
import { down, never } from "./answers.ts";
import { execNote } from "./exec-note.ts";
import { noteTool, readTool } from "../shared/tools.ts";

describe("a call ends as cancelled when the run is cancelled during", () => {
  test("its state check, and its signal is aborted", async () => {
    const abort = new AbortController();
    let granted: AbortSignal | undefined;
    const { tool, reached } = noteTool({
      checkState: (_args: unknown, _context: unknown, given: { signal: AbortSignal }) => {
        granted = given.signal;
        return never();
      },
    });
    const { call, clock } = benchFor([tool]);
    const pending = call("test__note", { text: "hi" }, { signal: abort.signal });
    await drainPromises();
    abort.abort();
    expect(endOf(await pending)).toEqual(["UNKNOWN_ERROR", "cancelled"]);
    expect(granted?.aborted).toBe(true);
    expect([reached.length, clock.waiting]).toEqual([0, 0]);
  });

  test.each(["broker", "ledger", "hook"] as const)(
    "the %s, and the tool does not run",
    async (place) => {
      const abort = new AbortController();
      const at = <T>(here: string, answer: T) => {
        if (here === place) abort.abort();
        return Promise.resolve(answer);
      };
      const { tool, reached } = noteTool({
        requiresConnection: true,
        capabilities: ["auth"],
        checkState: () => (place === "broker" ? never() : ok(null)),
      });
      const { call, journal, clock } = benchFor([tool], {
        policy: {
          allowedTools: ["test__note"],
          grants: [{ connectionId: "mail", tools: ["test__note"] }],
        },
        connectionIds: ["mail"] as never,
        broker: { bind: () => at("broker", ok({ auth: {}, secrets: [] }) as never) },
        ledger: ledgerThat(() => at("ledger", { kind: "reserved" })),
        hooks: [
          { before: () => (place === "hook" ? (abort.abort(), never()) : at("", undefined)) },
        ],
      });
      const result = await call("test__note", { text: "hi" }, { signal: abort.signal });
      expect(endOf(result)).toEqual(["UNKNOWN_ERROR", "cancelled"]);
      expect(result.response.escalate).toBe(false);
      expect(reached).toEqual([]);
      expect(journal.events.map(({ type }) => type)).toEqual(["tool_call_result"]);
      expect(clock.waiting).toBe(0);
    },
  );
});

test("a cancelled run does not wait for a running tool", async () => {
  const abort = new AbortController();
  const { result, reached } = await execNote({
    abort: abort.signal,
    reads: true,
    execute: () => {
      queueMicrotask(() => abort.abort());
      return new Promise(() => {});
    },
  });
  expect(reached.length).toBe(1);
  expect(result.observation.result_payload.errors).toMatchObject([{ code: "cancelled" }]);
});

test("a cancelled run emits no start event", async () => {
  const { journal } = await execNote({ abort: AbortSignal.abort() });
  expect(journal.events.map(({ type }) => type)).toEqual(["tool_call_result"]);
});

test("an ended call leaves no listener on the run's signal", async () => {
  const { tool } = readTool([() => down(), () => ok({ text: "up" })]);
  const { signal } = new AbortController();
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args));
  signal.removeEventListener = (...args: Parameters<typeof add>) => (listeners--, remove(...args));
  const { call, clock } = benchFor([tool]);
  expect((await passing(call("test__read", {}, { signal }), clock)).ok).toBe(true);
  expect([listeners, clock.waiting]).toEqual([0, 0]);
});
