import type { BudgetLedger, ReservationAnswer } from "../../capabilities/budget.ts";
import { BUDGETS } from "../../protocol/budget/amounts.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import { reservationIdOf, UNAVAILABLE } from "../../runner/budget/reserve.ts";
import { formatExhausted } from "../../runner/outcome/tool-failure.ts";
import { NEVER_SECONDS, type ReplayModel } from "./model.ts";
import type { Replay } from "./evidence.ts";
import { overBudget } from "../run-end.ts";

/**
 * Replays the answers of the tenant's ledger, as far as the records hold them. It counts nothing.
 */
export function replayLedger(replay: Replay, model: ReplayModel): BudgetLedger {
  const { claim, invocations, log } = replay.evidence;
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
    if (error?.message === OVER_TOKENS) return { kind: "exhausted", budget: "tokens" };
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
const OVER_TOKENS = overBudget("the tenant's tokens").error?.message;

/** Reads one call's answer. Only a call that the run's own budget admitted asked the tenant's. */
function answerCall(
  { markNotReplayable }: Replay,
  record: ToolInvocationRecord,
): ReservationAnswer {
  const { dispatches, amounts, end } = record;
  if (dispatches > 0 || !amounts || !end?.observation.status.is_error) return RESERVED;
  const { code, message } = end.observation.result_payload.errors[0] ?? { code: "", message: "" };
  switch (code) {
    case "budget_exhausted": {
      const budget = BUDGETS.find((name) => message === formatExhausted("tenant", name));
      if (budget) return { kind: "exhausted", budget };
      break;
    }
    case "cost_capped":
      return { kind: "capped" };
    case "rate_limited":
      return { kind: "rate_limited", retryAfterMs: NEVER_SECONDS * 1_000 };
    case "ledger_unavailable":
      if (message === UNAVAILABLE.unreachable.message) return { kind: "unavailable" };
      break;
    case "no_policy":
      return { kind: "policy_changed", pin: undefined };
  }
  // A policy that is not in the evidence refused the call.
  markNotReplayable("policy_changed");
  return { kind: "unavailable" };
}
