import type { AuditEntry } from "../../protocol/audit/entry.ts";
import type { FailureClass } from "../../protocol/outcome/taxonomy.ts";
import type { DecisionLog, RefusalEntry } from "../stored-run.ts";

/** Refusals of one kind that are recorded in full. */
const FULL_PER_KIND = 3;
/** Size of all refusals of a run that are recorded in full. Unit: UTF-16 code units of JSON. */
const FULL_CHARS = 64 * 1024;
/** Kinds that are counted apart. All others count together. */
const MAX_KINDS = 32;
/** Refused votes of one kind that are counted. Nothing else bounds how often a person votes. */
const MAX_VOTES = 100;
/** Ends of a call whose tool ran. */
const RAN: ReadonlySet<string> = new Set(["execute", "output"]);

/** Refusals of one kind that are not reported yet. `action` is present for votes. */
type CountedRefusals = Pick<AuditEntry, "toolId" | "toolVersion" | "gates" | "outcome" | "reason"> &
  Partial<Pick<AuditEntry, "action" | "approvalId" | "actorId" | "decision">> & {
    readonly count: number;
    readonly since: string;
    readonly at: string;
  };

/** Refusals of one kind. */
interface Tally {
  readonly seen: number;
  readonly fullChars: number;
  /** Those that are not reported yet. */
  readonly count: number;
  readonly since: string;
  readonly at: string;
}

const NONE: Tally = { seen: 0, fullChars: 0, count: 0, since: "", at: "" };

/**
 * Counts the refused calls of a run by kind: tool, gate, outcome and reason; and its refused votes:
 * approval, person, decision and reason. The first ones of each kind are recorded in full.
 * Threat: a person lets a model make thousands of calls that are refused, or votes thousands of
 * times, to fill the audit log. Refused votes have a share of their own, so they hide no calls.
 * Ownership: one per run object; the only writer of these entries of the log.
 * Contract: synchronous; its entries belong to the batch of the caller.
 */
export class RefusalTally {
  readonly #log: Pick<DecisionLog, "put">;
  readonly #kinds = new Map<string, Tally>();

  constructor(log: Pick<DecisionLog, "put">, logged: readonly RefusalEntry[]) {
    this.#log = log;
    for (const entry of logged) this.#apply(entry);
  }

  /** Tells whether an ended call or a refused vote is to be recorded in full; else counts it. */
  isRecordedInFull(entry: AuditEntry): boolean {
    const { gates } = entry;
    const others = entry.action === VOTE.action ? OTHER_VOTES : OTHERS;
    const isRefusedCall = gates?.refusedBy !== undefined && !RAN.has(gates.refusedBy);
    if (others === OTHERS && !isRefusedCall) return true;
    const alike = [...this.#kinds].filter(([kind]) => isVote(kind) === isVote(others));
    const own = others === OTHERS ? kindOf(entry) : kindOfVote(entry);
    const of = this.#kinds.has(own) || alike.length < MAX_KINDS ? own : others;
    const { seen } = this.#kinds.get(of) ?? NONE;
    if (isVote(of) && seen >= MAX_VOTES) return false;
    const used = alike.reduce((sum, [, { fullChars }]) => sum + fullChars, 0);
    const chars = JSON.stringify(entry).length;
    const isFull = seen < FULL_PER_KIND && used + chars <= FULL_CHARS;
    this.#put({ kind: "refused", of, fullChars: isFull ? chars : 0, at: entry.at });
    return isFull;
  }

  /** Counts the calls that ended in a class before they had a record. */
  turnedAway(taxonomyClass: FailureClass): number {
    const ofLedger = [...this.#kinds].filter(([kind]) => {
      const { gates, outcome } = JSON.parse(kind) as CountedRefusals;
      return gates?.refusedBy === "ledger" && outcome === taxonomyClass;
    });
    return ofLedger.reduce((sum, [, { seen }]) => sum + seen, 0);
  }

  /** Takes the refusals that were counted since the last call. */
  take(): readonly CountedRefusals[] {
    const taken = [...this.#kinds].filter(([, { count }]) => count > 0);
    if (taken.length > 0) this.#put({ kind: "refusals_reported" });
    return taken.map(([of, { count, since, at }]) =>
      Object.assign(JSON.parse(of) as object, { count, since, at }),
    );
  }

  #put(entry: RefusalEntry): void {
    this.#log.put(entry);
    this.#apply(entry);
  }

  #apply(entry: RefusalEntry): void {
    if (entry.kind === "refusals_reported") {
      for (const [of, tally] of this.#kinds) this.#kinds.set(of, { ...tally, count: 0 });
      return;
    }
    const { of, fullChars, at } = entry;
    const before = this.#kinds.get(of) ?? NONE;
    this.#kinds.set(of, {
      seen: before.seen + 1,
      fullChars: before.fullChars + fullChars,
      count: before.count + (fullChars > 0 ? 0 : 1),
      since: before.count === 0 ? at : before.since,
      at,
    });
  }
}

/** Kind of the refusals that have no kind of their own. */
const OTHERS = "{}";
const VOTE = { action: "approval.refused" } as const;
const OTHER_VOTES = JSON.stringify(VOTE);

function isVote(kind: string): boolean {
  return kind.startsWith(OTHER_VOTES.slice(0, -1));
}

function kindOfVote({ approvalId, actorId, decision, reason }: AuditEntry): string {
  return JSON.stringify({ ...VOTE, approvalId, actorId, decision, reason });
}

/** A tool that was not found has a name that the model made up, so the kind leaves it out. */
function kindOf({ toolId, toolVersion, gates, outcome, reason }: AuditEntry): string {
  return JSON.stringify({
    ...(toolVersion !== undefined && { toolId, toolVersion }),
    ...(gates && { gates: { passed: [], refusedBy: gates.refusedBy } }),
    outcome,
    reason,
  });
}
