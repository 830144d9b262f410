import type { Mutant } from "./mutant.ts";

/** What keeps lists and audit log whole, clean and to those whom they concern. */
export const AUDIT: readonly Mutant[] = [
  {
    name: "a repeated notice counts again",
    file: "durable-objects/tenant/records/record-tables.ts",
    from: "sent.filter(({ seq }) => seq > (before?.lastSeq ?? 0))",
    to: "sent",
    test: {
      file: "test/durable-objects/tenant-records.test.ts",
      name: "count once, in any batches and however often they arrive",
    },
  },
  {
    name: "notices are kept one by one",
    file: "durable-objects/tenant/records/record-tables.ts",
    from: "this.#storage.transactionSync(() => {\n      const before",
    to: "[0].forEach(() => {\n      const before",
    test: {
      file: "test/durable-objects/tenant-records.test.ts",
      name: "of a batch with an invalid notice are not stored, and count when they arrive again",
    },
  },
  {
    name: "a run sends notices for another run",
    file: "durable-objects/tenant/records/record-tables.ts",
    from: "const report = { ...cleanRun(run), runId, ...count };",
    to: "const report = { ...cleanRun(run), ...count };",
    test: {
      file: "test/durable-objects/tenant-records.test.ts",
      name: "count for the run that sends them, even when they name another run",
    },
  },
  {
    name: "a record does not follow the one before it",
    file: "durable-objects/tenant/records/audit-log.ts",
    from: "hashLink({ seq, prevHash, entryText: text })",
    to: "hashLink({ seq, prevHash: GENESIS_HASH, entryText: text })",
    test: {
      file: "test/durable-objects/tenant-records.test.ts",
      name: "continues after a crash, and repeated notices count once",
    },
  },
  {
    name: "a policy change is not recorded",
    file: "durable-objects/tenant/head/tenant-head.ts",
    from: "this.#parts.record(policyChanged(proposal, next, this.#nowMs()));",
    to: "",
    test: {
      file: "test/durable-objects/tenant-records.test.ts",
      name: "holds entries of the Worker and of policy changes between entries of runs",
    },
  },
  {
    name: "payloads are kept unredacted",
    file: "durable-objects/tenant/records/clean-records.ts",
    from: "const masked = maskSecrets(payload) as JsonObject;",
    to: "const masked = payload;",
    test: {
      file: "test/durable-objects/tenant-records.test.ts",
      name: "holds no text that looks like a secret, in any field",
    },
  },
  {
    name: "other texts are kept unredacted",
    file: "durable-objects/tenant/records/clean-records.ts",
    from: "return maskSecrets(Object.fromEntries(entries)) as unknown as T;",
    to: "return Object.fromEntries(entries) as unknown as T;",
    test: {
      file: "test/durable-objects/tenant-records.test.ts",
      name: "holds no text that looks like a secret, in any field",
    },
  },
  {
    name: "each start of a web token in a word reads the word to its end",
    file: "src/protocol/text/secrets.ts",
    from: String.raw`/(?<=(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,})\.[A-Za-z0-9_-]{8}/`,
    to: String.raw`/(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8}/`,
    test: {
      file: "test/protocol/text/secrets.node.test.ts",
      name: "many starts of a web token in one word take time in proportion to their length",
    },
  },
  {
    name: "a secret under its own name is kept",
    file: "src/protocol/text/secrets.ts",
    from: "namesSecret(name) ? MASKED : maskSecrets(value, depth + 1)",
    to: "maskSecrets(value, depth + 1)",
    test: {
      file: "test/durable-objects/tenant-records.test.ts",
      name: "holds no text that looks like a secret, in any field",
    },
  },
  {
    name: "a notice is removed before it has arrived",
    file: "durable-objects/run/outbox-delivery.ts",
    from: "if (!(await this.#withTimeout(inbox.receive(runId, sent)))) return this.#backOff();",
    to: "void inbox.receive(runId, sent).catch(() => {});",
    test: {
      file: "test/durable-objects/outbox-delivery.test.ts",
      name: "delays neither the run nor its publication, and gets the notices later in order",
    },
  },
  {
    name: "a delivery has no time limit",
    file: "durable-objects/run/outbox-delivery.ts",
    from: "Promise.race([answer, late])",
    to: "answer",
    test: {
      file: "test/durable-objects/outbox-delivery.test.ts",
      name: "that never answers delays no other deadline, and gets the notices again",
    },
  },
  {
    name: "numbers restart with each incarnation of an id",
    file: "durable-objects/run/outbox.ts",
    from: "createdMs * NOTICES_PER_MS",
    to: "0",
    test: {
      file: "test/durable-objects/outbox-delivery.test.ts",
      name: "of a run that is started again under its id are higher than those of the deleted run",
    },
  },
  {
    name: "a notice of a waiting run has no deadline",
    file: "durable-objects/run/outbox-delivery.ts",
    from: 'if (!isWatched && !deadlines.has("outbox")) deadlines.set("outbox", nowMs + MIN_RETRY_MS);',
    to: "",
    test: {
      file: "test/durable-objects/outbox-delivery.test.ts",
      name: "a notice of a run without a loop sets the outbox deadline at once",
    },
  },
  {
    name: "a run is deleted before all notices are delivered",
    file: "durable-objects/run/run-lifecycle.ts",
    from: 'if (name === "forget" && !this.#run.outbox.hasNotices())',
    to: 'if (name === "forget")',
    test: {
      file: "test/durable-objects/outbox-delivery.test.ts",
      name: "delays the deletion of the run, not its shrinking",
    },
  },
  {
    name: "a cursor is good for any list",
    file: "src/adapters/keys/sealed-cursors.ts",
    from: "return scope.map((part) => JSON.stringify(part));",
    to: "return scope.slice(0, 0).map(String);",
    test: {
      file: "test/http/approvals-queue.test.ts",
      name: "a cursor does not change hands, lists or filters",
    },
  },
  {
    name: "a cursor is good for any tenant",
    file: "src/http/runs/run-list.ts",
    from: 'const scope = ["runs", principal.tenantId, ...sees, ...filters];',
    to: 'const scope = ["runs", ...sees, ...filters];',
    test: { file: "test/http/run-list.test.ts", name: "a cursor is of no use with another tenant" },
  },
  {
    name: "everybody sees everybody's runs",
    file: "src/http/runs/run-list.ts",
    from: "const viewer = seesAll(principal) ? undefined : viewerOf(principal);",
    to: "const viewer = undefined as RunViewer | undefined;",
    test: { file: "test/http/run-list.test.ts", name: 'noor sees those of ["noor"]' },
  },
  {
    name: "an agent sees for one person what it did for another",
    file: "src/http/runs/run-list.ts",
    from: "...(!isDelegate(principal) && { actor: actorId })",
    to: "actor: actorId",
    test: {
      file: "test/http/run-list.test.ts",
      name: 'mirasAgent sees those of ["mirasAgent"]',
    },
  },
  {
    name: "the queue asks for no role",
    file: "durable-objects/tenant/records/approval-queue.ts",
    from: "role.value IN (SELECT held.value FROM json_each(?7) AS held)",
    to: "?7 IS NOT NULL",
    test: { file: "test/http/approvals-queue.test.ts", name: 'mira with "?decidable=true"' },
  },
  {
    name: "the requester is offered the decision",
    file: "durable-objects/tenant/records/approval-queue.ts",
    from: "AND NOT (excludes_requester AND lower(?6) IN (${REQUESTERS}))",
    to: "",
    test: { file: "test/http/approvals-queue.test.ts", name: 'noor with "?decidable=true"' },
  },
  {
    name: "the caller that started the run, or minted its token, is offered the decision",
    file: "durable-objects/tenant/records/approval-queue.ts",
    from: "IN (${REQUESTERS})",
    to: "IN (lower(requester))",
    test: { file: "test/http/approvals-queue.test.ts", name: 'noor with "?status=withdrawn"' },
  },
  {
    name: "an agent lists all approvals of its person",
    file: "src/http/approvals/approvals-queue.ts",
    from: "...(isDelegate(principal) && { delegate: principal.actorId }),",
    to: "",
    test: {
      file: "test/http/delegation-attacks.test.ts",
      name: "sees the approvals of the runs that it began for the person, and no others",
    },
  },
  {
    name: "an agent lists all runs of its person",
    file: "src/http/runs/run-list.ts",
    from: "viewer && isDelegate(principal) ? principal.actorId : undefined",
    to: "undefined as ActorId | undefined",
    test: {
      file: "test/http/delegation-attacks.test.ts",
      name: "lists the runs that it began for the person, and no others",
    },
  },
  {
    name: "an agent is offered decisions",
    file: "durable-objects/tenant/records/approval-queue.ts",
    from: "`(?13 AND (roles",
    to: "`(?13 IS NOT NULL AND (roles",
    test: { file: "test/http/approvals-queue.test.ts", name: 'sentry with ""' },
  },
  {
    name: "an expired approval stays in the queue",
    file: "durable-objects/tenant/records/approval-queue.ts",
    from: "THEN status = 'pending' AND expires_ms > ?2",
    to: "THEN status = 'pending'",
    test: {
      file: "test/http/approvals-queue.test.ts",
      name: "shows what is pending, what expires first first",
    },
  },
  {
    name: "a changed record has the hash it had",
    file: "cli/audit/verify-chain.ts",
    from: "hash === expected",
    to: "typeof expected === 'string'",
    test: { file: "test/cli/audit-verify.node.test.ts", name: "a changed word" },
  },
  {
    name: "a record may follow any other",
    file: "cli/audit/verify-chain.ts",
    from: 'if (prevHash !== last.hash) return "it does not follow the record before it";',
    to: "",
    test: {
      file: "test/cli/audit-verify.node.test.ts",
      name: "a changed word under a new hash",
    },
  },
  {
    name: "a truncated export verifies",
    file: "cli/audit/verify-chain.ts",
    from: 'if (!hasEnded) return { kind: "broken", line: line + 1, why: "the end line is missing" };',
    to: "",
    test: { file: "test/cli/audit-verify.node.test.ts", name: "a lost tail" },
  },
  {
    name: "each notice of a running run leaves in its own message",
    file: "durable-objects/run/outbox-delivery.ts",
    from: "Math.max(NOTICES_EVERY_MS, this.#notBeforeMs - nowMs)",
    to: "0",
    test: {
      file: "test/durable-objects/outbox-delivery.test.ts",
      name: "a running run sends at most one message per second",
    },
  },
  {
    name: "notices that wait are lost when the run shrinks",
    file: "durable-objects/run/outbox.ts",
    from: 'for (const sent of this.#notices) log.put({ kind: "notice", ...sent });',
    to: "",
    test: {
      file: "test/durable-objects/outbox-delivery.test.ts",
      name: "delays the deletion of the run, not its shrinking",
    },
  },
  {
    name: "a new incarnation does not send the notices of the last one",
    file: "durable-objects/run/outbox-delivery.ts",
    from: "if (this.#run.outbox.hasNotices()) this.#scheduleNotices();",
    to: "",
    test: {
      file: "test/durable-objects/outbox-delivery.test.ts",
      name: "the next incarnation sends the notices that the last one did not deliver",
    },
  },
  {
    name: "the audit log does not name the gates of a call",
    file: "src/runner/gates/gate.ts",
    from: "const answer = trail.note(name, checked instanceof Promise ? await checked : checked);",
    to: "const answer = checked instanceof Promise ? await checked : checked;",
    test: { file: "test/http/audit.test.ts", name: "lab__call_service with {} by authorise" },
  },
  {
    name: "the audit log holds the arguments of a call before redaction",
    file: "src/runner/outcome/audit-call.ts",
    from: "...(shownArgs && { input: shownArgs }),",
    to: "...(record && shownArgs && { input: JSON.parse(record.argumentsText) as JsonObject }),",
    test: {
      file: "test/http/hidden-arguments.test.ts",
      name: "a PIN that redaction withholds fits no value that leaves the run, among all 10,000 PINs",
    },
  },
  {
    name: "one read scans the whole audit log",
    file: "durable-objects/tenant/records/audit-log.ts",
    from: "const lastScanned = runId === undefined ? first + MAX_SCANNED : Number.MAX_SAFE_INTEGER;",
    to: "const lastScanned = Number.MAX_SAFE_INTEGER;",
    test: {
      file: "test/http/audit-pages.test.ts",
      name: "look at a bounded stretch of the log, and go on from where they stopped",
    },
  },
  {
    name: "an export goes on with what is recorded meanwhile",
    file: "src/http/audit/audit-export.ts",
    from: ".filter(({ seq }) => seq <= lastSeq)",
    to: ".filter(() => lastSeq >= 0)",
    test: {
      file: "test/http/audit-pages.test.ts",
      name: "ends where the chain ended when it began, over many pages",
    },
  },
  {
    name: "an approval is shown as its run last reported it",
    file: "durable-objects/tenant/records/approval-queue.ts",
    from: 'const isOver = approval.status === "pending" && Date.parse(approval.expiresAt) <= nowMs;',
    to: "const isOver = nowMs < 0;",
    test: {
      file: "test/http/approvals-queue.test.ts",
      name: "what is over in time is expired, whether its run has said so or not",
    },
  },
  {
    name: "a change of an approval does not reach the queue",
    file: "src/run/approvals/notices.ts",
    from: 'this.#outbox.notify({ type: "approval", approval: summarise(this.#runId, record) });',
    to: "void record;",
    test: {
      file: "test/http/approvals-queue.test.ts",
      name: "comes to the queue, counts its votes there, leaves it, and is recorded step by step",
    },
  },
  {
    name: "the end of an approval is not recorded",
    file: "src/run/approvals/notices.ts",
    from: 'this.#audit(record, { action: "approval.closed", atMs, decision: record.status });',
    to: "void [record, atMs];",
    test: {
      file: "test/http/approvals-queue.test.ts",
      name: "comes to the queue, counts its votes there, leaves it, and is recorded step by step",
    },
  },
];
