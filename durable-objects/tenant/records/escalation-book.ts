import type { EscalationAct, EscalationAnswer } from "../../../src/capabilities/tenant.ts";
import type { AuditAction, AuditEntry } from "../../../src/protocol/audit/entry.ts";
import type { Escalation } from "../../../src/protocol/escalation/escalation.ts";
import type { RunId } from "../../../src/protocol/identity/ids.ts";
import type { AwaitedOutcome } from "../../../src/protocol/run/awaited-outcome.ts";
import { maskSecrets } from "../../../src/protocol/secrets/secret-shapes.ts";
import { toIso } from "../../../src/protocol/text/iso-time.ts";
import { draftOfEntry, draftOfOutcome, settlementOf } from "./escalation-drafts.ts";
import { EscalationList, type EscalationDraft } from "./escalation-list.ts";

/** What the notices of one delivery tell of a run. */
interface Told {
  readonly runId: RunId;
  readonly entries: readonly AuditEntry[];
  /** The calls that await a report; absent when none do and none did. */
  readonly outcomes?: readonly AwaitedOutcome[] | undefined;
}

/** What notices change. */
interface Noted {
  /** The entries of the run, each followed by the record of what it opened. */
  readonly entries: readonly AuditEntry[];
  readonly opened: readonly Escalation[];
}

/** What a change of the list adds to the audit log. */
interface Recorded<T> {
  readonly answer: T;
  readonly entries: readonly AuditEntry[];
}

/**
 * Opens and settles escalations as the notices of runs tell, and as people do.
 * Contract: synchronous, part of the transaction of the caller, who appends the entries.
 */
export class EscalationBook {
  readonly list: EscalationList;

  constructor(sql: SqlStorage) {
    this.list = new EscalationList(sql);
  }

  /** Notes what a run tells. */
  note({ runId, entries, outcomes }: Told, nowMs: number): Noted {
    for (const entry of entries) {
      const settlement = settlementOf(entry);
      if (settlement) this.list.settle(runId, entry.invocationId ?? "", settlement);
    }
    // A report about a call says more than the list that leaves it out.
    if (outcomes) {
      const awaited = new Set(outcomes.map(({ invocationId }) => invocationId));
      this.list.closeMissing(runId, awaited, nowMs);
    }
    const opened: Escalation[] = [];
    const open = (draft: EscalationDraft | undefined): readonly AuditEntry[] => {
      const escalation = draft && this.list.open(draft, nowMs);
      if (!escalation) return [];
      opened.push(escalation);
      return [entryOf("escalation.opened", escalation, nowMs)];
    };
    const recorded = [
      ...entries.flatMap((entry) => [entry, ...open(draftOfEntry(entry, runId))]),
      ...(outcomes ?? []).flatMap((outcome) => open(draftOfOutcome(outcome))),
    ];
    return { entries: recorded, opened };
  }

  /** Does what a person asks for. */
  act(act: EscalationAct, nowMs: number): Recorded<EscalationAnswer> {
    const note =
      act.note === undefined ? {} : (maskSecrets({ note: act.note }) as { note: string });
    const { isNew, ...answer } = this.list.act({ ...act, ...note }, nowMs);
    if (!isNew || answer.kind !== "done") return { answer, entries: [] };
    const entry = entryOf(ACTIONS[act.action], answer.escalation, nowMs);
    return { answer, entries: [{ ...entry, actorId: act.by }] };
  }
}

const ACTIONS = {
  take: "escalation.taken",
  release: "escalation.released",
  settle: "escalation.settled",
} as const satisfies Record<EscalationAct["action"], AuditAction>;

function entryOf(action: AuditAction, escalation: Escalation, nowMs: number): AuditEntry {
  const { id: escalationId, reason, runId, invocationId, toolId, outcome } = escalation;
  return {
    action,
    at: toIso(nowMs),
    runId,
    escalationId,
    escalation: reason,
    ...(invocationId !== undefined && { invocationId }),
    ...(toolId !== undefined && { toolId }),
    ...(outcome !== undefined && { outcome }),
  };
}
