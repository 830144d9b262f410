import type { Mutant } from "./mutant.ts";

/** What keeps effects from happening twice, and runs from getting lost. */
export const RELIABILITY: readonly Mutant[] = [
  {
    name: "the row of the run does not name a new table",
    file: "durable-objects/run/run-tables.ts",
    from: 'this.#sql.exec("UPDATE log SET tables = ? WHERE seq = 0", [...this.#names, name].join(" "));',
    to: "",
    test: {
      file: "test/durable-objects/first-use-crashes.test.ts",
      name: "a crash at the first use of the table prompt (durable) loses nothing and repeats nothing",
    },
  },
  {
    name: "sync: an effect does not wait until its record is durable",
    file: "durable-objects/run/stored-journal.ts",
    from: "await this.#ports.sync();",
    to: "",
    test: {
      file: "test/durable-objects/at-most-once.test.ts",
      name: "a local effect is recorded durably before it happens, so no crash repeats it",
    },
  },
  {
    name: "unique claim: a request under a key starts a run whatever there is",
    file: "durable-objects/run/run-object.ts",
    from: "if (this.#run) return answerRepeat(this.#run, claim.requestHash ?? null, reader);",
    to: "",
    test: {
      file: "test/durable-objects/run-object.test.ts",
      name: "a run can be claimed once",
    },
  },
  {
    name: "unique claim: a running operation runs again",
    file: "src/runner/tool-runner.ts",
    from: "if (active.has(operationIdOf(context))) return refuse(IN_PROGRESS);",
    to: "",
    test: {
      file: "test/runner/recovery/repeated-operation.test.ts",
      name: "while it runs is a conflict and does not change it",
    },
  },
  {
    name: "hash check: any body may have the run of a key",
    file: "durable-objects/run/run-streams.ts",
    from: "if (requestHash === null || run.store.identity().requestHash !== requestHash) {",
    to: "if (requestHash === null) {",
    test: {
      file: "test/http/request-key.test.ts",
      name: "another body under a key is refused, while the run goes and after",
    },
  },
  {
    name: "hash check: an operation takes other arguments",
    file: "src/runner/invocation/invocation-ledger.ts",
    from: "if (bound && bound.idempotencyKey !== binding.idempotencyKey) return OTHER_PAYLOAD;",
    to: "",
    test: {
      file: "test/runner/invocation-ledger.test.ts",
      name: "an operation keeps its first binding, and is refused under any other key",
    },
  },
  {
    name: "alarm: no deadline sets it",
    file: "durable-objects/deadlines.ts",
    from: "else void this.#storage.setAlarm(atMs);",
    to: "",
    test: {
      file: "test/durable-objects/deadlines.test.ts",
      name: "a running run has a watchdog alarm, and an ended run has none",
    },
  },
  {
    name: "alarm: a run that dies at once is never found",
    file: "durable-objects/run/run-deadlines.ts",
    from: "return { watchdog: { atMs: nowMs + WATCH_EVERY_MS } };",
    to: "return {};",
    test: {
      file: "test/durable-objects/deadlines.test.ts",
      name: "a running run has a watchdog alarm, and an ended run has none",
    },
  },
  {
    name: "claim: one that fails half way is committed as far as it came",
    file: "durable-objects/run/run-object.ts",
    from: "      this.#abandon(cause);\n",
    to: "",
    test: {
      file: "test/durable-objects/run-object.test.ts",
      name: "a claim that fails half way stores nothing, and can be made again",
    },
  },
  {
    name: "alarm: one that fails is not armed again",
    file: "durable-objects/run/run-object.ts",
    from: "await this.ctx.storage.setAlarm(this.#clock.nowMs() + ALARM_RETRY_MS);",
    to: "",
    test: {
      file: "test/durable-objects/run-incarnations.test.ts",
      name: "an alarm that fails is set again",
    },
  },
  {
    name: "unknown outcome: an effect that may have happened is repeated",
    file: "src/runner/recovery/resume-call.ts",
    from: "return found.value.isIdempotent",
    to: "return found.value.id",
    test: {
      file: "test/durable-objects/at-most-once.test.ts",
      name: "a local effect is recorded durably before it happens, so no crash repeats it",
    },
  },
  {
    name: "withdrawal: a half answer stays after a crash",
    file: "src/loop/first-step.ts",
    from: 'if (texts.length > 0) journal.append([{ type: "text_withdrawn", parts: texts }]);',
    to: "",
    test: {
      file: "test/durable-objects/run-object.test.ts",
      name: "a run whose loop died continues in a new epoch and withdraws its unfinished text",
    },
  },
  {
    name: "a record is only its newest change",
    file: "durable-objects/run/logged-state.ts",
    from: "{ ...invocations.get(number), ...changed }",
    to: "changed",
    test: {
      file: "test/durable-objects/run-log.test.ts",
      name: "a record is what all its changes come to, and a change holds no unchanged field",
    },
  },
  {
    name: "a batch that failed is stored with the next one",
    file: "durable-objects/run/run-log.ts",
    from: "      this.#take();\n      throw cause;",
    to: "      throw cause;",
    test: {
      file: "test/durable-objects/run-log.test.ts",
      name: "a batch that fails stores nothing of it",
    },
  },
  {
    name: "notices that were delivered are forgotten after a crash",
    file: "durable-objects/run/logged-state.ts",
    from: "notices = notices.filter(({ seq }) => seq > deliveredSeq);",
    to: "void deliveredSeq;",
    test: {
      file: "test/durable-objects/outbox-delivery.test.ts",
      name: "are never reused after delivery and removal",
    },
  },
  {
    name: "every row of a log is compressed alone",
    file: "durable-objects/run/log-rows.ts",
    from: "const base = this.#mayHaveBase ? this.#newest : undefined;",
    to: "const base = this.#mayHaveBase ? undefined : this.#newest;",
    test: {
      file: "test/durable-objects/log-rows.test.ts",
      name: "a row that resembles an earlier one takes a tenth of the room",
    },
  },
  {
    name: "rows that follow a deletion need a row that is gone",
    file: "durable-objects/run/log-rows.ts",
    from: "this.#mayHaveBase = false;",
    to: "",
    test: {
      file: "test/durable-objects/log-rows.test.ts",
      name: "rows that follow a deletion have no base, because the deletion may be rolled back",
    },
  },
  {
    name: "the number of a run's last notice goes with its report",
    file: "durable-objects/tenant/records/run-directory.ts",
    from: "WHERE created_ms < ?1 AND ended_ms < ?1 AND heard_ms < ?2",
    to: "WHERE ended_ms < ?1 + 1e15 AND heard_ms < ?2 + 1e15",
    test: {
      file: "test/durable-objects/tenant-retention.test.ts",
      name: "keeps the number of a run's last notice for a day, so a repeated notice counts once",
    },
  },
  {
    name: "an alarm is never set later than before",
    file: "durable-objects/deadlines.ts",
    from: "if (!isEarlier && !(exactly && this.#held)) return;",
    to: "if (!isEarlier) return; void exactly;",
    test: {
      file: "test/durable-objects/deadlines.test.ts",
      name: "stays when its deadline is cleared, until it is set exactly",
    },
  },
  {
    name: "repeated writes: an attempt is planned beyond the time of the run",
    file: "src/runner/retry/decide-next.ts",
    from: "Math.min(dispatchedAtMs + tool.retryForMs, endsAtMs())",
    to: "dispatchedAtMs + tool.retryForMs + endsAtMs.length",
    test: {
      file: "test/runner/retry/repeated-writes.test.ts",
      name: "no attempt is planned after the end of the run's time: a person is asked instead",
    },
  },
  {
    name: "repeated writes: a key counts although its service has forgotten it",
    file: "src/runner/prepare.ts",
    from: "if (isForgotten) return KEY_EXPIRED;",
    to: "void isForgotten;",
    test: {
      file: "test/runner/retry/repeated-writes.test.ts",
      name: "no attempt uses a key that its service has forgotten",
    },
  },
  {
    name: "repeated writes: a call that rests gives its place away",
    file: "src/runner/tool-runner.ts",
    from: "if (release && rests(ports, requested)) lock.park();",
    to: "if (release && !rests) lock.park();",
    test: {
      file: "test/runner/retry/repeated-writes.test.ts",
      name: "no call overtakes one that rests",
    },
  },
  {
    name: "repeated writes: an attempt begins as soon as anything wakes the run",
    file: "src/runner/tool-runner.ts",
    from: "    if (rests(ports, requested)) return WAITING;",
    to: "",
    test: {
      file: "test/http/repeated-writes.test.ts",
      name: "a resting run holds its time, and neither a restart nor an early alarm repeats the write",
    },
  },
  {
    name: "repeated writes: the time of a run stands still while it rests",
    file: "durable-objects/run/run-deadlines.ts",
    from: 'if (awaitsPeople) deadlines.pause("wall_clock", nowMs);',
    to: 'deadlines.pause("wall_clock", nowMs);',
    test: {
      file: "test/http/repeated-writes.test.ts",
      name: "a resting run holds its time, and neither a restart nor an early alarm repeats the write",
    },
  },
  {
    name: "repeated writes: a contract without a key has a time",
    file: "src/contracts/check/consistency.ts",
    from: "  checkRetryTime,\n  checkCompensation,",
    to: "  checkCompensation,",
    test: {
      file: "test/contracts/check/consistency.test.ts",
      name: "refuses a contract with repeated writes without a key",
    },
  },
  {
    name: "repeated writes: a service that is down asks a person at once",
    file: "src/runner/retry/decide-next.ts",
    from: "if (dispatchedAtMs === undefined || tool.retryForMs === 0) return 0;",
    to: "if (dispatchedAtMs !== endsAtMs()) return 0;",
    test: {
      file: "test/http/repeated-writes.test.ts",
      name: "a write whose service is down is repeated under its key by the alarm, and nobody is asked",
    },
  },
  {
    name: "an object whose only table is the platform's counts as used",
    file: "durable-objects/storage-version.ts",
    from: '["_cf_", "__miniflare_", "sqlite_"]',
    to: '["_cf_", "sqlite_"]',
    test: {
      file: "test/durable-objects/first-use-crashes.test.ts",
      name: "an object that ended before its claim, with only a table of the platform, takes the run",
    },
  },
  {
    name: "repeated writes: a newer policy does not hold for the next attempt",
    file: "src/runner/prepare.ts",
    from: "{ terms: newTerms, trail });\n    if (!obeyed.ok) return obeyed;",
    to: "{ terms: newTerms, trail });\n    void obeyed;",
    test: {
      file: "test/http/repeated-writes.test.ts",
      name: "a policy that now denies the tool stops the next attempt, and an operator is asked",
    },
  },
];
