import type { BudgetLedger, Reservation, ReservationAnswer } from "../capabilities/budget.ts";
import type { PolicyChange, PolicyRegistry } from "../capabilities/policy.ts";
import { toCanonicalJson } from "../protocol/json/canonical-hash.ts";
import type { BudgetAmounts } from "../protocol/budget/amounts.ts";
import type { TenantId } from "../protocol/identity/ids.ts";
import type { JsonValue } from "../protocol/json/value.ts";
import type { PolicyPin, PolicyProposal } from "../protocol/policy/pin.ts";

/** What a tenant's object answers. */
interface TenantMethods {
  policy(): Promise<PolicyPin | undefined>;
  change(proposal: PolicyProposal): Promise<PolicyChange>;
  reserve(reservation: Reservation): Promise<ReservationAnswer>;
  settle(id: string, used: BudgetAmounts): Promise<void>;
  release(id: string): Promise<void>;
}

export interface TenantGateway {
  readonly registry: PolicyRegistry;
  ledgerOf(tenantId: TenantId): BudgetLedger;
}

/** Reaches each tenant's Durable Object by the tenant's id. */
export function createDurableTenantGateway(tenants: DurableObjectNamespace): TenantGateway {
  const objectOf = (tenantId: TenantId): DurableObjectStub & TenantMethods =>
    tenants.get(tenants.idFromName(tenantId)) as DurableObjectStub & TenantMethods;
  return {
    registry: {
      current: (tenantId) => objectOf(tenantId).policy(),
      change(tenantId, policy, terms) {
        const policyText = toCanonicalJson(policy as JsonValue);
        return objectOf(tenantId).change({ tenantId, policyText, ...terms });
      },
    },
    ledgerOf: (tenantId) => ({
      async reserve(reservation) {
        try {
          return await objectOf(tenantId).reserve(reservation);
        } catch {
          // It may have been taken or not; asking again under the same id is safe.
          return { kind: "unavailable" };
        }
      },
      async settle(id, used) {
        try {
          await objectOf(tenantId).settle(id, used);
        } catch {
          // It stays counted as it was reserved.
        }
      },
      async release(id) {
        try {
          await objectOf(tenantId).release(id);
        } catch {
          // It stays counted as it was reserved.
        }
      },
    }),
  };
}
