import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { EventLog } from "../../durable-objects/run/event-log.ts";
import { RunStore } from "../../durable-objects/run/run-store.ts";
import type { RunId } from "../../src/protocol/identity/ids.ts";
import type { Principal } from "../../src/protocol/identity/principal.ts";
import { PACKET, SUMMARY } from "../shared/packets.ts";
import { bindings } from "../shared/worker.ts";

const principal = { tenantId: "acme", actorId: "user:ann" } as Principal;
const CLAIM = { runId: "run_1" as RunId, principal, model: "m", messages: [] };

const proposed = (part: number, toolName: string): object => ({
  type: "tool_call_proposed",
  part,
  toolCallId: `call_${part}`,
  toolName,
});
const started = (part: number): object => ({
  type: "tool_call_start",
  part,
  toolCallId: `call_${part}`,
  args: {},
});
const requested = {
  type: "approval_requested",
  part: 2,
  toolCallId: "call_2",
  approval: SUMMARY,
  packet: PACKET,
};

let objects = 0;

/** Opens a log over rows that are in storage already. */
function withRows(
  rows: readonly (readonly object[])[],
  work: (log: EventLog) => void,
): Promise<void> {
  const id = bindings.RUNS.idFromName(`log-${objects++}`);
  return runInDurableObject(bindings.RUNS.get(id), (_object, { storage }) => {
    const store = new RunStore(storage);
    store.claim(CLAIM, { createdMs: 0 });
    const { log } = store;
    let seq = 0;
    for (const row of rows) {
      const [firstSeq, lastSeq] = [seq + 1, seq + row.length];
      log.putEvents({ firstSeq, lastSeq, epoch: 0, body: JSON.stringify(row) });
      seq = lastSeq;
    }
    work(new EventLog(storage.sql, log, 0));
  });
}

test("a stored event keeps its texts after the wording changes", () => {
  const lines = [{ field: "consequence", label: "Consequence", text: "worded then", notes: [] }];
  const start = { ...started(1), toolName: "its own" };
  return withRows([[proposed(1, "a"), start, { ...requested, lines }]], (log) => {
    expect([...log.readAll()].slice(1)).toEqual([start, { ...requested, lines }]);
  });
});
