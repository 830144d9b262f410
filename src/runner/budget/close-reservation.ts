import type { ApprovalDesk } from "../../capabilities/approval.ts";
import type { BudgetLedger } from "../../capabilities/budget.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { mutates, type ActiveCall } from "../active-call.ts";
import { operationIdOf, type InvocationLedger } from "../invocation/invocation-ledger.ts";
import type { RunBudget } from "./of-run.ts";
import { asksLedger, reservationIdOf } from "./reserve.ts";

interface Ports {
  readonly approvals: Pick<ApprovalDesk, "newest">;
  readonly budget: RunBudget;
  readonly invocations: Pick<InvocationLedger, "find">;
  readonly ledger: BudgetLedger;
  readonly policy: ToolPolicy;
}

/**
 * Closes the reservation of a call that has ended. A call whose tool never ran gives everything
 * back. A read settles what it used, and so does a call that costs by its time. Any other mutation
 * that may have run keeps its reservation: it counts until somebody releases it.
 */
export async function closeReservation(
  { approvals, budget, invocations, ledger, policy }: Ports,
  { tool, context }: Pick<ActiveCall, "tool" | "context">,
): Promise<void> {
  const { number = 0, amounts, dispatches = 0, end } = invocations.find(context) ?? {};
  if (!amounts || !end) return;
  // An approved call asks the ledger whatever it uses, because the current policy has to be known.
  const isAtTenant = asksLedger(policy, tool, amounts) || approvals.newest(number) !== undefined;
  const id = reservationIdOf(context);
  if (dispatches > 0) {
    const { used } = end;
    if (used) budget.settle(operationIdOf(context), used);
    // Nobody waits for this message. If it is lost, the read is given back before its window ends.
    if (isAtTenant && (used || !mutates(tool))) void ledger.settle(id, used ?? amounts);
    return;
  }
  budget.release(operationIdOf(context));
  if (isAtTenant) await ledger.release(id);
}
