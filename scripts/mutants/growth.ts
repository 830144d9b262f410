import type { Mutant } from "./mutant.ts";

/** What bounds the storage that one person can fill. */
export const GROWTH: readonly Mutant[] = [
  {
    name: "a run copies a conversation of any length",
    file: "src/run/answers.ts",
    from: "if (transcript.bytes() > maxBytes) return",
    to: "if (transcript.bytes() > Infinity) return",
    test: {
      file: "test/http/growth.test.ts",
      name: "a short request copies no conversation that is longer than the policy allows",
    },
  },
  {
    name: "the policy's limit of a copied conversation is not read",
    file: "src/http/claim/storage-limits.ts",
    from: "maxHistoryBytes: budgets.maxHistoryBytes ?? IMPLIED_LIMITS.maxHistoryBytes",
    to: "maxHistoryBytes: 8 * 1024 * 1024",
    test: {
      file: "test/http/growth.test.ts",
      name: "a conversation over a mebibyte is not copied where the policy names no limit",
    },
  },
  {
    name: "a run stores without limit",
    file: "durable-objects/run/run-activity.ts",
    from: 'this.stop("storage")',
    to: "return",
    test: {
      file: "test/http/growth.test.ts",
      name: "a run that stored as much as it may ends, in the middle of its calls",
    },
  },
  {
    name: "compressed text counts as little as it takes",
    file: "durable-objects/run/run-store.ts",
    from: "this.#sql.databaseSize + this.log.savedBytes",
    to: "this.#sql.databaseSize",
    test: {
      file: "test/http/growth.test.ts",
      name: "a run that stored as much as it may ends, in the middle of its calls",
    },
  },
  {
    name: "the limit of an actor is not compared",
    file: "src/http/claim/storage-limits.ts",
    from: "use.actorBytes >= limits.actorBytes || ",
    to: "",
    test: {
      file: "test/http/growth.test.ts",
      name: "a person who stored as much as the policy allows starts no run until the window ends",
    },
  },
  {
    name: "a new run does not count before its first report",
    file: "src/http/runs/chat.ts",
    from: "  countNewRun(authorised, claimed.value);\n",
    to: "",
    test: {
      file: "test/http/growth.test.ts",
      name: "a person who stored as much as the policy allows starts no run until the window ends",
    },
  },
  {
    name: "the limit of the tenant is not compared",
    file: "src/http/claim/storage-limits.ts",
    from: " || use.tenantBytes >= limits.tenantBytes",
    to: "",
    test: {
      file: "test/http/growth.test.ts",
      name: "runs of one person count against the limit of the tenant",
    },
  },
  {
    name: "each report of a run counts in full",
    file: "durable-objects/tenant/records/record-tables.ts",
    from: "(report?.storedBytes ?? 0) - (before?.storedBytes ?? 0)",
    to: "report?.storedBytes ?? 0",
    test: {
      file: "test/durable-objects/tenant-records.test.ts",
      name: "count what each report adds, for the person and for the tenant",
    },
  },
  {
    name: "what a run adds to the audit log is not counted",
    file: "durable-objects/tenant/records/record-tables.ts",
    from: "grown + auditBytes",
    to: "grown",
    test: {
      file: "test/durable-objects/tenant-records.test.ts",
      name: "count what a run adds to the audit log, for the person whose run it is",
    },
  },
  {
    name: "every refused call is recorded in full",
    file: "src/run/notices/refusal-tally.ts",
    from: "seen < FULL_PER_KIND && ",
    to: "",
    test: {
      file: "test/http/growth.test.ts",
      name: "a chat whose calls are all refused leaves the first ones and a count in the audit log",
    },
  },
  {
    name: "a made-up tool name makes a kind of its own",
    file: "src/run/notices/refusal-tally.ts",
    from: "...(toolVersion !== undefined && { toolId, toolVersion }),",
    to: "toolId,",
    test: {
      file: "test/http/growth.test.ts",
      name: "a chat whose calls are all refused leaves the first ones and a count in the audit log",
    },
  },
  {
    name: "counted refusals are never reported",
    file: "src/run/notices/run-notices.ts",
    from: "this.#reportRefusals();\n    this.#audit({",
    to: "this.#audit({",
    test: {
      file: "test/http/growth.test.ts",
      name: "refused calls are counted across a crash of the run, each once",
    },
  },
  {
    name: "the retention leaves no summary's end to follow",
    file: "durable-objects/tenant/records/audit-log.ts",
    from: '{ lastSeq: seq = 0, lastHash: hash = GENESIS_HASH, lastAt = "" } = this.removed() ?? {};',
    to: '{ lastSeq: seq = 0, lastHash: hash = GENESIS_HASH, lastAt = "" } = {} as Partial<SignedRemoval>;',
    test: {
      file: "test/durable-objects/audit-retention.test.ts",
      name: "a later removal extends the summary, and the newest record always stays",
    },
  },
  {
    name: "the retention signs for records that do not follow each other",
    file: "durable-objects/tenant/records/audit-log.ts",
    from: 'if (!follows(row, last)) return "broken";',
    to: "",
    test: {
      file: "test/durable-objects/audit-retention.test.ts",
      name: "the retention signs for nothing after a removed record",
    },
  },
  {
    name: "the retention signs for changed records",
    file: "durable-objects/tenant/records/audit-log.ts",
    from: "isNext && hash === hashLink({ seq, prevHash, entryText: unpackText(entry) })",
    to: "isNext",
    test: {
      file: "test/durable-objects/audit-retention.test.ts",
      name: "the retention signs for nothing after a changed record",
    },
  },
  {
    name: "the retention goes on from any summary",
    file: "durable-objects/tenant/records/audit-retention.ts",
    from: "if (before && !(await signer.hasSigned(removalText(before), before.signature))) return false;",
    to: "",
    test: {
      file: "test/durable-objects/audit-retention.test.ts",
      name: "the retention does not go on from a summary that somebody planted",
    },
  },
  {
    name: "the retention removes what is not old",
    file: "durable-objects/tenant/records/audit-log.ts",
    from: "if (Date.parse(at) >= beforeMs) break;",
    to: "",
    test: {
      file: "test/durable-objects/audit-retention.test.ts",
      name: "an alarm removes records whose retention has ended, and the chain still holds",
    },
  },
  {
    name: "the retention removes the newest record too",
    file: "durable-objects/tenant/records/audit-log.ts",
    from: "this.#last().seq,\n      limit",
    to: "this.#last().seq + 1,\n      limit",
    test: {
      file: "test/durable-objects/audit-retention.test.ts",
      name: "a later removal extends the summary, and the newest record always stays",
    },
  },
  {
    name: "a gap in an export is not noticed",
    file: "src/http/audit/audit-export.ts",
    from: 'if (isWhole && page?.removed) throw new Error("records were removed during the export");',
    to: "",
    test: {
      file: "test/durable-objects/audit-retention.test.ts",
      name: "an export breaks off when records are removed while it runs",
    },
  },
  {
    name: "any signature of a summary passes",
    file: "cli/audit/verify-removal.ts",
    from: '(await isSigned(summary)) ? undefined : "its signature is forged"',
    to: "undefined",
    test: {
      file: "test/durable-objects/audit-retention.test.ts",
      name: "a summary that somebody forged is named",
    },
  },
  {
    name: "any key of a summary passes",
    file: "cli/audit/verify-removal.ts",
    from: 'if (key !== undefined && key !== summary.key) return "it is signed by another key than --key";',
    to: "",
    test: {
      file: "test/durable-objects/audit-retention.test.ts",
      name: "a summary that somebody forged is named",
    },
  },
  {
    name: "a column that lies about the time sets the alarm again and again",
    file: "durable-objects/tenant/records/audit-retention.ts",
    from: "return (log.oldestMs() ?? beforeMs) >= beforeMs;",
    to: "return true;",
    test: {
      file: "test/durable-objects/audit-retention.test.ts",
      name: "a record is as old as its entry says, not as its column says",
    },
  },
  {
    name: "what one person stores counts for every person",
    file: "durable-objects/tenant/records/stored-bytes.ts",
    from: "this.#sum(person, fromMs)",
    to: "this.#sum(EVERYONE, fromMs)",
    test: {
      file: "test/durable-objects/tenant-records.test.ts",
      name: "count what each report adds, for the person and for the tenant",
    },
  },
  {
    name: "no alarm is set for records that will be old",
    file: "durable-objects/tenant/records/tenant-records.ts",
    from: 'deadlines.setEarlier("retention", this.#tables.dueMs(this.#parts));',
    to: "",
    test: {
      file: "test/durable-objects/tenant-retention.test.ts",
      name: "deletes old runs and approvals by alarm, and never the audit log",
    },
  },
  {
    name: "the alarm deletes no old runs",
    file: "durable-objects/tenant/records/tenant-records.ts",
    from: "this.#tables.deleteExpired(nowMs, keptMs);",
    to: "",
    test: {
      file: "test/durable-objects/tenant-retention.test.ts",
      name: "deletes old runs and approvals by alarm, and never the audit log",
    },
  },
  {
    name: "the number of a run's last notice stays for ever",
    file: "durable-objects/tenant/records/run-directory.ts",
    from: "SELECT run_id FROM runs WHERE created_ms < ?1 AND ended_ms < ?1 AND heard_ms < ?2",
    to: "SELECT run_id FROM runs WHERE created_ms < ?1 AND ended_ms < ?1 AND heard_ms < ?2 - 1e13",
    test: {
      file: "test/durable-objects/tenant-retention.test.ts",
      name: "keeps the number of a run's last notice for a day, so a repeated notice counts once",
    },
  },
];
