import { mutates, type ActiveCall } from "../active-call.ts";
import { asksLedger, reservationIdOf } from "../gates/reserve-budget.ts";
import { operationIdOf } from "../invocation-ledger.ts";

/**
 * Closes what a call has reserved once it has ended. A call whose tool was never asked gives everything
 * back. A read has used what it took, and says so. A mutation that may have begun keeps what it took
 * without a word: what is reserved for it counts until somebody gives it back.
 */
export async function closeReservation({
  ports,
  tool,
  context,
}: Pick<ActiveCall, "ports" | "tool" | "context">): Promise<void> {
  const { approvals, budget, invocations, ledger } = ports;
  const { number = 0, amounts, dispatches = 0, end } = invocations.find(context) ?? {};
  if (!amounts || !end) return;
  // What people approved asks the ledger whatever it takes, for the policy that is current.
  const isAtTenant = asksLedger({ ports, tool }, amounts) || approvals.newest(number) !== undefined;
  const id = reservationIdOf(context);
  if (dispatches > 0) {
    // Nobody waits for it: unheard, it is only given back too early.
    if (isAtTenant && !mutates(tool)) void ledger.settle(id, amounts);
    return;
  }
  budget.release(operationIdOf(context));
  if (isAtTenant) await ledger.release(id);
}
