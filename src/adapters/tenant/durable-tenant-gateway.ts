import type { ApprovalPlaces, ApprovalQueue } from "../../capabilities/approval.ts";
import type { AssistantRegistry } from "../../capabilities/assistant.ts";
import type { AuditTrail } from "../../capabilities/audit.ts";
import type { BudgetLedger } from "../../capabilities/budget.ts";
import type { PolicyRegistry } from "../../capabilities/policy.ts";
import type { StorageQuery, StorageUse } from "../../capabilities/storage.ts";
import type {
  OutcomeList,
  RunDirectory,
  TenantInbox,
  TenantMethods,
} from "../../capabilities/tenant.ts";
import type { TenantId } from "../../protocol/identity/ids.ts";
import { toCanonicalJson } from "../../protocol/json/canonical-hash.ts";
import type { JsonValue } from "../../protocol/json/value.ts";

/** What the objects of the tenants offer, one capability each. */
export interface TenantGateway {
  readonly registry: PolicyRegistry;
  readonly assistants: AssistantRegistry;
  readonly directory: RunDirectory;
  readonly queue: ApprovalQueue;
  readonly outcomes: OutcomeList;
  readonly trail: AuditTrail;
  /** Fails: throws when the tenant's object does not answer. */
  readonly storageUse: (tenantId: TenantId, query: StorageQuery) => Promise<StorageUse>;
  ledgerOf(tenantId: TenantId): BudgetLedger;
  placesOf(tenantId: TenantId): ApprovalPlaces;
  inboxOf(tenantId: TenantId): TenantInbox;
}

type ObjectOf = (tenantId: TenantId) => TenantMethods;

/** Reaches each tenant's Durable Object by the tenant's id. */
export function createDurableTenantGateway(tenants: DurableObjectNamespace): TenantGateway {
  const objectOf: ObjectOf = (tenantId) =>
    tenants.get(tenants.idFromName(tenantId)) as DurableObjectStub & TenantMethods;
  return {
    registry: {
      current: (tenantId) => objectOf(tenantId).policy(),
      change(tenantId, policy, terms) {
        const policyText = toCanonicalJson(policy as JsonValue);
        return objectOf(tenantId).change({ tenantId, policyText, ...terms });
      },
    },
    assistants: {
      list: (tenantId) => objectOf(tenantId).assistants(),
      read: (tenantId, id, hash) => objectOf(tenantId).assistant(id, hash),
      change: (tenantId, proposal) => objectOf(tenantId).changeAssistant(proposal),
    },
    directory: { list: (tenantId, query) => objectOf(tenantId).runs(query) },
    queue: { list: (tenantId, query) => objectOf(tenantId).approvals(query) },
    outcomes: { list: (tenantId, query) => objectOf(tenantId).outcomes(query) },
    trail: {
      record: (tenantId, entry) => objectOf(tenantId).record(entry),
      read: (tenantId, query) => objectOf(tenantId).audit(query),
    },
    storageUse: (tenantId, query) => objectOf(tenantId).storageUse(query),
    ledgerOf: (tenantId) => createLedger(() => objectOf(tenantId)),
    placesOf: (tenantId) => ({
      // A place that was taken all the same lapses.
      take: async (place) =>
        objectOf(tenantId)
          .takePlace(place)
          .catch(() => "unavailable"),
    }),
    inboxOf: (tenantId) => createInbox(() => objectOf(tenantId)),
  };
}

function createLedger(object: () => TenantMethods): BudgetLedger {
  return {
    async reserve(reservation) {
      try {
        return await object().reserve(reservation);
      } catch {
        // The reservation may exist; a repeated request with the same id is safe.
        return { kind: "unavailable" };
      }
    },
    async peek(reservation) {
      try {
        return await object().peek(reservation);
      } catch {
        return { kind: "unavailable" };
      }
    },
    async settle(id, used) {
      try {
        await object().settle(id, used);
      } catch {
        // The reservation stays counted in full.
      }
    },
    async release(id) {
      try {
        await object().release(id);
      } catch {
        // The reservation stays counted in full.
      }
    },
  };
}

function createInbox(object: () => TenantMethods): TenantInbox {
  return {
    async receive(runId, notices) {
      try {
        await object().receive(runId, notices);
        return true;
      } catch {
        // The notices may have arrived; sent again, each counts once.
        return false;
      }
    },
  };
}
