import type { BudgetLedger, ReservationAnswer } from "../../capabilities/budget.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import { reservationIdOf } from "../../runner/budget/reserve.ts";
import { NEVER_SECONDS, type ReplayModel } from "./model.ts";
import { codeOf } from "./evidence.ts";
import type { Replay } from "./replay.ts";

/**
 * Replays the answers of the tenant's ledger, as far as the records hold them. It counts nothing.
 */
export function replayLedger(replay: Replay, model: ReplayModel): BudgetLedger {
  const { claim, facts, invocations, log } = replay.evidence;
  const records = new Map(
    invocations.map((record) => {
      const { step, toolCallId } = record;
      return [reservationIdOf({ runId: claim.runId, step, toolCallId }), record];
    }),
  );
  const done = log.at(-1);
  const error = done?.type === "done" ? done.error : undefined;
  const answerModel = (): ReservationAnswer => {
    if (!model.isOver) return RESERVED;
    const { because } = facts;
    if (because && "exhausted" in because && because.whose === "tenant") {
      return { kind: "exhausted", budget: because.exhausted };
    }
    return error?.code === "budget_unavailable" ? { kind: "unavailable" } : RESERVED;
  };
  return {
    reserve({ id }) {
      const record = records.get(id);
      return Promise.resolve(record ? answerCall(replay, record) : answerModel());
    },
    // A call that was asked about without room ended without amounts.
    peek({ id }) {
      const record = records.get(id);
      return Promise.resolve(
        record && !record.amounts ? answerCall(replay, { ...record, amounts: {} }) : RESERVED,
      );
    },
    settle: () => Promise.resolve(),
    release: () => Promise.resolve(),
  };
}

const RESERVED: ReservationAnswer = { kind: "reserved" };

/** Reads one call's answer. Only a call that the run's own budget admitted asked the tenant's. */
function answerCall(
  { markNotReplayable }: Replay,
  record: ToolInvocationRecord,
): ReservationAnswer {
  const { dispatches, amounts, end } = record;
  if (dispatches > 0 || !amounts || !end?.observation.status.is_error) return RESERVED;
  const { endedBy } = end;
  if (endedBy?.who === "tenant") {
    const budget = endedBy.exhausted;
    return budget ? { kind: "exhausted", budget } : { kind: "unavailable" };
  }
  if (endedBy?.who === "policy") return { kind: "policy_changed", pin: endedBy.pin };
  const code = codeOf(record) ?? "";
  // The policies between which the tenant changed back and forth are not in the evidence.
  if (code === "ledger_unavailable") markNotReplayable("policy_changed");
  return REFUSED[code] ?? RESERVED;
}

const REFUSED: Readonly<Record<string, ReservationAnswer>> = {
  cost_capped: { kind: "capped" },
  rate_limited: { kind: "rate_limited", retryAfterMs: NEVER_SECONDS * 1_000 },
  no_policy: { kind: "policy_changed", pin: undefined },
};
