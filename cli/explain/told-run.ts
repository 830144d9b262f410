import * as v from "valibot";
import type { AuditEntry } from "../../src/protocol/audit/entry.ts";
import type { RunTrace } from "../../src/protocol/run/trace.ts";
import { CommandError } from "../command.ts";

const text = v.optional(v.string());
const number = v.number();

const usage = v.looseObject({ inputTokens: number, outputTokens: number });

const call = v.looseObject({
  invocationId: v.string(),
  name: v.string(),
  version: v.optional(v.string()),
  step: number,
  attempts: number,
  state: v.optional(v.string()),
  outcome: text,
  saga: text,
  approvalId: text,
  awaitsApprovalUntil: text,
  awaitsOutcomeUntil: text,
  nextAttemptAt: text,
});

const approval = v.looseObject({
  approvalId: v.string(),
  invocationId: v.string(),
  changedTerms: v.optional(v.array(v.looseObject({ term: v.string() }))),
});

/** The first page of `GET /v1/runs/:id/trace`, as far as it is explained. */
const toldTrace = v.looseObject({
  run: v.looseObject({
    runId: v.string(),
    status: v.string(),
    reason: text,
    error: v.optional(v.looseObject({ code: v.string(), message: v.string() })),
    model: v.string(),
    recoveries: number,
    timestamps: v.looseObject({ createdAt: v.string(), endedAt: text }),
  }),
  pins: v.looseObject({
    promptHash: text,
    wire: text,
    wrapperVersion: text,
    policy: v.optional(v.looseObject({ revision: number })),
  }),
  steps: v.array(v.looseObject({ usage: v.optional(usage) })),
  calls: v.array(call),
  approvals: v.array(approval),
  notices: v.looseObject({ arePending: v.boolean() }),
});

const entry = v.looseObject({
  action: v.string(),
  at: v.string(),
  actorId: text,
  subjectId: text,
  invocationId: text,
  decision: text,
  reason: text,
  consentId: text,
  escalation: text,
  outcome: text,
  model: text,
  detail: text,
  status: v.optional(number),
  count: v.optional(number),
  durationMs: v.optional(number),
  policyRevision: v.optional(number),
  gates: v.optional(v.looseObject({ passed: v.array(v.string()), refusedBy: text })),
});

/** The records of a page, likewise. */
const toldPage = v.looseObject({
  records: v.optional(v.array(v.looseObject({ entry })), []),
  next: text,
});

/**
 * Reads what decided a run. Fields and values that this version does not know stay.
 * Fails: throws a CommandError that names the field of an answer of another shape.
 */
export function readToldTrace(answer: unknown): RunTrace {
  return read("the run", toldTrace, answer) as unknown as RunTrace;
}

/** Reads a page of audit records, and where the next one begins. Fails: likewise. */
export function readToldPage(answer: unknown): {
  readonly entries: readonly AuditEntry[];
  readonly next: string | undefined;
} {
  const { records, next } = read("the records", toldPage, answer);
  return { entries: records.map((one) => one.entry as unknown as AuditEntry), next };
}

function read<T>(what: string, schema: v.GenericSchema<unknown, T>, answer: unknown): T {
  const parsed = v.safeParse(schema, answer);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const field = v.getDotPath(issue) ?? "the whole answer";
  throw new CommandError(
    `The deployment told ${what} in another shape: ${field}: ${issue.message}. ` +
      "Perhaps it runs another version of Interlock.",
  );
}
