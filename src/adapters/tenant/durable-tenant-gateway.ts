import type { ApprovalPlaces, ApprovalQueue } from "../../capabilities/approval.ts";
import type { AssistantRegistry } from "../../capabilities/assistant.ts";
import type { AuditTrail } from "../../capabilities/audit.ts";
import type { BudgetLedger } from "../../capabilities/budget.ts";
import type { NotificationDesk } from "../../capabilities/notification.ts";
import type { ConsentDesk } from "../../capabilities/consent.ts";
import type { PersonErasures } from "../../capabilities/people.ts";
import type { PolicyRegistry } from "../../capabilities/policy.ts";
import type { StorageQuery, StorageUse } from "../../capabilities/storage.ts";
import type {
  ConversationDirectory,
  FeedbackQuery,
  EscalationDesk,
  OutcomeList,
  RunDirectory,
  TenantHeadMethods,
  NoticeReceiver,
  TenantMethods,
  TenantRecordsMethods,
} from "../../capabilities/tenant.ts";
import type { ListedFeedback } from "../../protocol/conversation/feedback.ts";
import type { ListPage } from "../../protocol/list/page.ts";
import type { TenantId } from "../../protocol/identity/ids.ts";
import type { DailySpending, DayRange, TenantMetrics } from "../../protocol/metric/measures.ts";
import { toCanonicalJson } from "../../protocol/json/canonical-hash.ts";
import type { JsonValue } from "../../protocol/json/value.ts";

/** What the objects of the tenants offer, one capability each. */
export interface TenantGateway {
  readonly registry: PolicyRegistry;
  readonly assistants: AssistantRegistry;
  readonly directory: RunDirectory;
  readonly conversations: ConversationDirectory;
  readonly queue: ApprovalQueue;
  readonly outcomes: OutcomeList;
  readonly escalations: EscalationDesk;
  readonly notifications: NotificationDesk;
  readonly consents: ConsentDesk;
  readonly trail: AuditTrail;
  readonly erasures: PersonErasures;
  /** Fails: throws when the tenant's object does not answer. */
  readonly feedback: (
    tenantId: TenantId,
    query: FeedbackQuery,
  ) => Promise<ListPage<ListedFeedback>>;
  /** Fails: likewise. */
  readonly metrics: (tenantId: TenantId) => Promise<TenantMetrics>;
  readonly spending: (tenantId: TenantId, days: DayRange) => Promise<readonly DailySpending[]>;
  /** Fails: throws when the tenant's object does not answer. */
  readonly storageUse: (tenantId: TenantId, query: StorageQuery) => Promise<StorageUse>;
  /** Which hashes a person used before. Fails: likewise. */
  readonly usedNames: (
    tenantId: TenantId,
    person: string,
    hashes: readonly string[],
  ) => Promise<readonly string[]>;
  ledgerOf(tenantId: TenantId): BudgetLedger;
  placesOf(tenantId: TenantId): ApprovalPlaces;
  noticesOf(tenantId: TenantId): NoticeReceiver;
}

/** Reaches each tenant's Durable Object by the tenant's id. */
export function createDurableTenantGateway(tenants: DurableObjectNamespace): TenantGateway {
  const objectOf = (tenantId: TenantId): DurableObjectStub & TenantMethods =>
    tenants.get(tenants.idFromName(tenantId)) as DurableObjectStub & TenantMethods;
  // One object holds both ports; who uses one does not see the other.
  const headOf: (tenantId: TenantId) => TenantHeadMethods = objectOf;
  const recordsOf: (tenantId: TenantId) => TenantRecordsMethods = objectOf;
  return {
    registry: {
      current: (tenantId) => headOf(tenantId).policy(),
      change(tenantId, policy, terms) {
        const policyText = toCanonicalJson(policy as JsonValue);
        return headOf(tenantId).change({ tenantId, policyText, ...terms });
      },
    },
    assistants: {
      list: (tenantId) => headOf(tenantId).assistants(),
      read: (tenantId, id, hash) => headOf(tenantId).assistant(id, hash),
      change: (tenantId, proposal) => headOf(tenantId).changeAssistant(proposal),
    },
    directory: { list: (tenantId, query) => recordsOf(tenantId).runs(query) },
    conversations: { list: (tenantId, query) => recordsOf(tenantId).conversations(query) },
    queue: { list: (tenantId, query) => recordsOf(tenantId).approvals(query) },
    outcomes: { list: (tenantId, query) => recordsOf(tenantId).outcomes(query) },
    escalations: {
      list: (tenantId, query) => recordsOf(tenantId).escalations(query),
      act: (tenantId, act) => recordsOf(tenantId).actOnEscalation(act),
    },
    notifications: {
      list: (tenantId, query) => objectOf(tenantId).notifications(query),
      retry: (tenantId, id) => objectOf(tenantId).retryNotification(id),
    },
    consents: {
      list: (tenantId, query) => headOf(tenantId).consents(query),
      revoke: (tenantId, revocation) => headOf(tenantId).revokeConsent(revocation),
    },
    trail: {
      record: (tenantId, entry) => recordsOf(tenantId).record(entry),
      read: (tenantId, query) => recordsOf(tenantId).audit(query),
    },
    usedNames: (tenantId, ...asked) => recordsOf(tenantId).usedNames(...asked),
    erasures: {
      begin: (request) => objectOf(request.tenantId).erasePerson(request),
      read: (tenantId, erasureId) => objectOf(tenantId).personErasure(erasureId),
    },
    feedback: (tenantId, query) => recordsOf(tenantId).feedback(query),
    metrics: (tenantId) => recordsOf(tenantId).metrics(),
    spending: (tenantId, days) => recordsOf(tenantId).spending(days),
    storageUse: (tenantId, query) => recordsOf(tenantId).storageUse(query),
    ledgerOf: (tenantId) => createLedger(() => headOf(tenantId)),
    placesOf: (tenantId) => ({
      // A place that was taken all the same lapses.
      take: async (place) =>
        recordsOf(tenantId)
          .takePlace(place)
          .catch(() => "unavailable"),
    }),
    noticesOf: (tenantId) => createNoticeReceiver(() => recordsOf(tenantId)),
  };
}

function createLedger(head: () => TenantHeadMethods): BudgetLedger {
  return {
    async reserve(reservation) {
      try {
        return await head().reserve(reservation);
      } catch {
        // The reservation may exist; a repeated request with the same id is safe.
        return { kind: "unavailable" };
      }
    },
    async peek(reservation) {
      try {
        return await head().peek(reservation);
      } catch {
        return { kind: "unavailable" };
      }
    },
    async settle(id, used) {
      try {
        await head().settle(id, used);
      } catch {
        // The reservation stays counted in full.
      }
    },
    async release(id) {
      try {
        await head().release(id);
      } catch {
        // The reservation stays counted in full.
      }
    },
  };
}

function createNoticeReceiver(records: () => TenantRecordsMethods): NoticeReceiver {
  return {
    async receive(runId, notices) {
      try {
        await records().receive(runId, notices);
        return true;
      } catch {
        // The notices may have arrived; sent again, each counts once.
        return false;
      }
    },
  };
}
