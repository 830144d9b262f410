import type { BudgetLedger, Reservation, ReservationAnswer } from "../../capabilities/budget.ts";
import type { PolicyStore } from "../../capabilities/policy.ts";
import type { TenantId } from "../../protocol/identity/ids.ts";
import type { PolicyPin } from "../../protocol/policy/pin.ts";
import type { Result } from "../../protocol/outcome/result.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";

/** A policy that changes oftener than this while one operation waits is not to be relied on. */
const MAX_POLICY_CHANGES = 3;

export interface TenantPorts {
  readonly ledger: Pick<BudgetLedger, "reserve">;
  readonly policies: PolicyStore;
  readonly tenantId: TenantId;
}

/** A policy and the pin it was read under. */
export interface PinnedPolicy {
  readonly policy: ToolPolicy;
  readonly pin: PolicyPin;
}

/** What asks for a part of the tenant's budgets. */
export interface Applicant<Failure> {
  /** What it takes, and the limits that hold for it under a policy. */
  reservationUnder(terms: PinnedPolicy): Reservation;
  /** Whether a policy that became current meanwhile lets it pass too. */
  passes(terms: PinnedPolicy): Promise<Result<null, Failure>>;
}

export type TenantAnswer<Failure> =
  | Exclude<ReservationAnswer, { readonly kind: "policy_changed" | "unavailable" }>
  | { readonly kind: "no_policy" }
  | { readonly kind: "refused"; readonly failure: Failure }
  /** The ledger cannot be asked, or the policy does not come to rest. */
  | { readonly kind: "unavailable"; readonly because: "unreachable" | "changing" };

/**
 * Takes a part of the tenant's budgets under the policy that is current: when that is not the pinned one
 * any more, the applicant has to pass it first.
 */
export async function reserveOfTenant<Failure>(
  { ledger, policies, tenantId }: TenantPorts,
  pinned: PinnedPolicy,
  applicant: Applicant<Failure>,
): Promise<TenantAnswer<Failure>> {
  let terms = pinned;
  for (let change = 0; change <= MAX_POLICY_CHANGES; change++) {
    const answer = await ledger.reserve(applicant.reservationUnder(terms));
    if (answer.kind === "unavailable") return { kind: "unavailable", because: "unreachable" };
    if (answer.kind !== "policy_changed") return answer;
    if (!answer.pin) return { kind: "no_policy" };
    policies.learn(tenantId, answer.pin);
    const { policy, pin } = await policies.read(tenantId, answer.pin);
    // Without a document nothing is allowed, whatever the pin that was asked for.
    if (!pin) return { kind: "no_policy" };
    terms = { policy, pin };
    const passed = await applicant.passes(terms);
    if (!passed.ok) return { kind: "refused", failure: passed.failure };
  }
  return { kind: "unavailable", because: "changing" };
}
