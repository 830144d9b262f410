import type { Mutant } from "./mutant.ts";

const LIST = "test/http/run-list.test.ts";
const OUTCOME = "test/http/outcome.test.ts";
const REPEATED = "test/http/repeated-writes.test.ts";
const RETENTION = "test/http/retention.test.ts";

/** What a run owes its callers: its messages, its unknown outcomes, its list and its deletion. */
export const RUNS: readonly Mutant[] = [
  {
    name: "the key of a message names the request alone",
    file: "src/http/runs/request-key.ts",
    from: "requestKey: await hashOf([principal.actorId, key.value])",
    to: "requestKey: await hashOf([principal.tenantId, key.value])",
    test: {
      file: "test/http/message-key.test.ts",
      name: "a message under a key is taken once, for each person, and its repetition is answered after the end",
    },
  },
  {
    name: "a repeated message is refused once the inbox is closed",
    file: "src/run/answers.ts",
    from: "if (known === undefined) {\n      if (inbox.isClosed || store.incarnations().stop !== null) return",
    to: "if (inbox.isClosed) return { kind: 'ended' };\n    if (known === undefined) {\n      if (store.incarnations().stop !== null) return",
    test: {
      file: "test/http/message-key.test.ts",
      name: "a message under a key is taken once, for each person, and its repetition is answered after the end",
    },
  },
  {
    name: "a recovery forgets the inbox",
    file: "durable-objects/run/stored-inbox.ts",
    from: "this.#waiting = rows.slice(takenCount).map(",
    to: "this.#waiting = rows.slice(takenCount, 0).map(",
    test: {
      file: "test/http/messages.test.ts",
      name: "a message survives a crash of the run, once, with its event",
    },
  },
  {
    name: "a recovery reads the messages that the conversation holds again",
    file: "durable-objects/run/stored-inbox.ts",
    from: "this.#waiting = rows.slice(takenCount).map(",
    to: "this.#waiting = rows.map(",
    test: {
      file: "test/http/messages.test.ts",
      name: "a message that the conversation holds already is not repeated after a crash",
    },
  },
  {
    name: "another outcome than the reported one is accepted",
    file: "src/run/outcomes/resolve.ts",
    from: 'return record.resolution.outcome === resolution.outcome ? "resolved" : "not_awaited";',
    to: 'return "resolved";',
    test: {
      file: OUTCOME,
      name: "a repeated outcome is accepted once, and a different one is refused",
    },
  },
  {
    name: "an unknown outcome never expires",
    file: "durable-objects/run/run-lifecycle.ts",
    from: "expireOutcomes(this.#run, clock.nowMs());",
    to: "",
    test: {
      file: OUTCOME,
      name: "without an answer in time the call ends with an unknown outcome, the run fails, and its conversation can continue",
    },
  },
  {
    name: "only the alarm ends the time of an operator",
    file: "src/run/outcomes/resolve.ts",
    from: "const isLate = (record.awaitedUntilMs ?? 0) <= resolution.atMs;",
    to: "const isLate = false;",
    test: {
      file: OUTCOME,
      name: "an outcome after its deadline is refused, even when the alarm is late",
    },
  },
  {
    name: "a run that is being cancelled takes an outcome",
    file: "src/run/outcomes/resolve.ts",
    from: "if (isLate || run.store.incarnations().stop !== null)",
    to: "if (isLate)",
    test: {
      file: OUTCOME,
      name: "an outcome for a run that is being cancelled is refused, not accepted and dropped",
    },
  },
  {
    name: "all unknown outcomes expire with the first",
    file: "src/run/outcomes/resolve.ts",
    from: "if ((record.awaitedUntilMs ?? 0) <= atMs) store(",
    to: "store(",
    test: {
      file: OUTCOME,
      name: "of two calls with unknown outcomes, the one past its deadline is closed and the other still waits",
    },
  },
  {
    name: "a run waits for an outcome that came while another call ran",
    file: "src/run/wait-reasons.ts",
    from: "if (resolution) return true;",
    to: "if (resolution) return false;",
    test: {
      file: OUTCOME,
      name: "an answer that comes while the step still runs another call is not lost",
    },
  },
  {
    name: "a page of runs repeats the last run of the page before",
    file: "durable-objects/tenant/records/run-directory.ts",
    from: "(created_ms, run_id) < (?7, ?8)",
    to: "(created_ms, run_id) <= (?7, ?8)",
    test: {
      file: LIST,
      name: "are newest first, whole, without repetition, and stay so while runs start",
    },
  },
  {
    name: "a cursor of the list of runs fits every caller of its tenant",
    file: "src/http/runs/run-list.ts",
    from: 'const scope = ["runs", principal.tenantId, ...sees, ...filters];',
    to: 'const scope = ["runs", principal.tenantId, ...filters];',
    test: { file: LIST, name: "a cursor is of no use with another caller of the same tenant" },
  },
  {
    name: "a cursor of the list of runs fits every set of filters",
    file: "src/http/runs/run-list.ts",
    from: 'const scope = ["runs", principal.tenantId, ...sees, ...filters];',
    to: 'const scope = ["runs", principal.tenantId, ...sees];',
    test: { file: LIST, name: "a cursor is of no use with another filter" },
  },
  {
    name: "a page of a list has no size limit",
    file: "src/http/request/list-query.ts",
    from: "v.transform(Number), v.maxValue(MAX_LIMIT)",
    to: "v.transform(Number), v.maxValue(MAX_LIMIT * 10)",
    test: { file: LIST, name: "?limit=101" },
  },
  {
    name: "a misspelled filter shows the whole list of runs",
    file: "src/http/runs/run-list.ts",
    from: "const query = v.strictObject({",
    to: "const query = v.object({",
    test: { file: LIST, name: "?statsu=failed" },
  },
  {
    name: "a resting run is not woken when it is cancelled",
    file: "src/run/next-move.ts",
    from: 'answered: "relaunch", stopped: "relaunch"',
    to: 'answered: "relaunch", stopped: "nothing"',
    test: {
      file: REPEATED,
      name: "cancelling a resting run ends it at once, without another attempt",
    },
  },
  {
    name: "a run without its evidence loses the hash of its request",
    file: "durable-objects/run/run-store.ts",
    from: '"UPDATE log SET claim = NULL, owner = ? WHERE seq = 0"',
    to: '"UPDATE log SET claim = NULL, owner = ?, request_hash = NULL WHERE seq = 0"',
    test: {
      file: RETENTION,
      name: "knows its key where nothing is published: nothing runs again, another body is refused",
    },
  },
  {
    name: "the alarm of a forgotten run arms itself again",
    file: "durable-objects/run/run-object.ts",
    from: "if (this.#run) this.#deadlines.arm({ exactly: true });",
    to: "await this.ctx.storage.setAlarm(this.#clock.nowMs() + ALARM_RETRY_MS);",
    test: {
      file: RETENTION,
      name: "a forgotten run is like one that never was, and its object comes to rest",
    },
  },
  {
    name: "a run without its evidence is an unknown run",
    file: "src/run/visibility.ts",
    from: 'return store.claimed() ? undefined : { kind: "gone" };',
    to: 'return store.claimed() ? undefined : { kind: "unknown" };',
    test: {
      file: "test/http/retention.test.ts",
      name: "knows its key where nothing is published: nothing runs again, another body is refused",
    },
  },
  {
    name: "a published run of another version counts",
    file: "src/adapters/run/kv-run-records.ts",
    from: "version: v.literal(RECORD_VERSION),",
    to: "version: v.number(),",
    test: {
      file: "test/adapters/run/kv-run-records.test.ts",
      name: "a record of a later version counts as absent",
    },
  },
  {
    name: "a request to cancel does not wait for the end of the run",
    file: "durable-objects/run/run-lifecycle.ts",
    from: "this.#requestStop(reason);\n    await this.untilRest();",
    to: "this.#requestStop(reason);",
    test: { file: "test/http/cancel.test.ts", name: "while the model streams" },
  },
  {
    name: "a reader of an earlier epoch skips what replaced the lost events",
    file: "durable-objects/run/event-log.ts",
    from: "return Math.min(after.seq, seq);",
    to: "return after.seq;",
    test: {
      file: "test/http/resume-across-crash.test.ts",
      name: "a reader who follows across two crashes sees every part once, and no text twice",
    },
  },
  {
    name: "a position is known in its own epoch alone",
    file: "durable-objects/run/event-log.ts",
    from: "return Math.min(after.seq, seq);",
    to: "return seq < 0 ? seq : undefined;",
    test: {
      file: "test/http/resume-across-crash.test.ts",
      name: "a reader who follows across two crashes sees every part once, and no text twice",
    },
  },
  {
    name: "a colleague's run wakes before it is refused",
    file: "src/adapters/run/hmac-run-ids.ts",
    from: "sign && (mayOwn || seesAll || operates)",
    to: "sign && (mayOwn || !seesAll || operates)",
    test: {
      file: "test/http/access.test.ts",
      name: "wakes the object of a colleague's run no more than that of an unknown one",
    },
  },
  {
    name: "the owners of a run id are not covered by its MAC",
    file: "src/adapters/run/hmac-run-ids.ts",
    from: 'return (await sign("run-id", tenantId, body)).slice(0, MAC_CHARS);',
    to: 'return (await sign("run-id", tenantId, body.slice(0, 32))).slice(0, MAC_CHARS);',
    test: { file: "test/adapters/run/hmac-run-ids.test.ts", name: "a colleague" },
  },
];
