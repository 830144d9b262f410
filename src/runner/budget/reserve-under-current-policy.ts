import type { BudgetLedger, Reservation, ReservationAnswer } from "../../capabilities/budget.ts";
import type { PolicyStore } from "../../capabilities/policy.ts";
import type { TenantId } from "../../protocol/identity/ids.ts";
import type { Result } from "../../protocol/outcome/result.ts";
import type { PinnedTerms } from "../terms.ts";

/** How often the policy may change while one operation waits for its reservation. */
const MAX_POLICY_CHANGES = 3;

export interface TenantPorts {
  readonly ledger: Pick<BudgetLedger, "reserve">;
  readonly policies: PolicyStore;
  readonly tenantId: TenantId;
}

/** Asks for a share of the tenant's budgets. */
export interface Applicant<Failure, Obeyed = unknown> {
  /** Builds the reservation, with the limits that hold for it under the terms. */
  reservationUnder(terms: PinnedTerms): Reservation;
  /** Checks the applicant against a policy that became current meanwhile. */
  obeyNewTerms(terms: PinnedTerms): Promise<Result<Obeyed, Failure>>;
}

export type TenantAnswer<Failure, Obeyed = unknown> =
  /** `obeyed` is what `obeyNewTerms` answered last; undefined when nothing had to be obeyed. */
  | (Extract<ReservationAnswer, { readonly kind: "reserved" }> & {
      readonly obeyed: Obeyed | undefined;
    })
  | Extract<
      ReservationAnswer,
      { readonly kind: "exhausted" | "capped" | "no_consent" | "rate_limited" }
    >
  | { readonly kind: "no_policy" }
  | { readonly kind: "refused"; readonly failure: Failure }
  /** The ledger is unreachable, or the policy changed more than MAX_POLICY_CHANGES times. */
  | { readonly kind: "unavailable"; readonly because: "unreachable" | "changing" };

/**
 * Reserves a share of the tenant's budgets under the current policy. When that policy is newer than
 * the given terms, the applicant has to obey it first.
 */
export async function reserveUnderCurrentPolicy<Failure, Obeyed>(
  { ledger, policies, tenantId }: TenantPorts,
  pinned: PinnedTerms,
  applicant: Applicant<Failure, Obeyed>,
): Promise<TenantAnswer<Failure, Obeyed>> {
  let terms = pinned;
  let obeyedLast: Obeyed | undefined;
  for (let change = 0; change <= MAX_POLICY_CHANGES; change++) {
    const answer = await ledger.reserve(applicant.reservationUnder(terms));
    if (answer.kind === "unavailable") return { kind: "unavailable", because: "unreachable" };
    if (answer.kind === "reserved") return { ...answer, obeyed: obeyedLast };
    if (answer.kind !== "policy_changed") return answer;
    if (!answer.pin) return { kind: "no_policy" };
    if (change === MAX_POLICY_CHANGES) break;
    policies.learn(tenantId, answer.pin);
    const { policy, pin } = await policies.read(tenantId, answer.pin);
    // A pin without a readable document allows nothing.
    if (!pin) return { kind: "no_policy" };
    terms = { policy, pin };
    const obeyed = await applicant.obeyNewTerms(terms);
    if (!obeyed.ok) return { kind: "refused", failure: obeyed.failure };
    obeyedLast = obeyed.value;
  }
  return { kind: "unavailable", because: "changing" };
}
