import type { AssistantRegistry, AssistantStore } from "../capabilities/assistant.ts";
import type { ApprovalQueue } from "../capabilities/approval.ts";
import type { AuditSigner, AuditTrail } from "../capabilities/audit.ts";
import type { ConsentDesk } from "../capabilities/consent.ts";
import type { Fingerprints } from "../capabilities/fingerprints.ts";
import type { NotificationDesk } from "../capabilities/notification.ts";
import type { PersonErasures, PersonWorkspaces } from "../capabilities/people.ts";
import type { Authenticator, EmbedTokens, OriginIndex } from "../capabilities/identity.ts";
import type { Log } from "../capabilities/log.ts";
import type { Clock } from "../capabilities/system.ts";
import type { ConnectionStore } from "../capabilities/connection.ts";
import type { ProviderStore } from "../capabilities/provider.ts";
import type {
  ConversationDirectory,
  FeedbackQuery,
  Cursors,
  EscalationDesk,
  OutcomeList,
  RunDirectory,
} from "../capabilities/tenant.ts";
import type { PolicyRegistry, PolicyStore } from "../capabilities/policy.ts";
import type { RateLimiter } from "../capabilities/budget.ts";
import type { StorageMeter } from "../capabilities/storage.ts";
import type { RunGateway } from "../capabilities/run.ts";
import type { RunIds } from "../capabilities/run-ids.ts";
import type { RunRecords } from "../capabilities/run-records.ts";
import type { ContractSource } from "../contracts/bind/tool-source.ts";
import type { ListedFeedback } from "../protocol/conversation/feedback.ts";
import type { ListPage } from "../protocol/list/page.ts";
import type { TenantId } from "../protocol/identity/ids.ts";
import type { connectionBody } from "../protocol/connection/stored.ts";
import type { DailySpending, DayRange, TenantMetrics } from "../protocol/metric/measures.ts";
import type { tenantProviderBody } from "../protocol/provider/tenant-provider.ts";
import type { ClientWires } from "../protocol/run/client-wire.ts";
import type { ModelCatalog } from "../protocol/model/catalog.ts";
import type { ClientTools } from "./clients/client-tools.ts";
import type { Page } from "./pages/pages.ts";

/** The capabilities that the routes use; src/compose/worker.ts assembles them. */
export interface Services {
  readonly authenticator: Authenticator;
  readonly embedTokens: EmbedTokens;
  readonly origins: OriginIndex;
  readonly limits: {
    /** Counts by tenant and actor. */
    readonly callers: RateLimiter;
    /** Counts requests without a valid token, by IP address. */
    readonly addresses: RateLimiter;
  };
  readonly policies: PolicyStore;
  /**
   * Tells the objects of workspaces that their members changed. Absent: there are no workspaces.
   * Contract: never throws.
   */
  readonly membersChanged:
    | ((tenantId: TenantId, workspaceIds: readonly string[]) => Promise<void>)
    | undefined;
  readonly erasures: PersonErasures;
  /** Lists the feedback of a tenant. Fails: throws when the tenant's object does not answer. */
  readonly feedback: (
    tenantId: TenantId,
    query: FeedbackQuery,
  ) => Promise<ListPage<ListedFeedback>>;
  /** Reads what the runs of a tenant counted. Fails: likewise. */
  readonly metrics: (tenantId: TenantId) => Promise<TenantMetrics>;
  /** Reads what the runs of a tenant used. Fails: likewise. */
  readonly spending: (tenantId: TenantId, days: DayRange) => Promise<readonly DailySpending[]>;
  /** The workspaces of the deployment, by name, and the data of people in them. */
  readonly workspaces: { readonly names: readonly string[]; readonly people: PersonWorkspaces };
  readonly fingerprints: Fingerprints;
  readonly connections: ConnectionStore;
  /** Reads the body that stores a connection. */
  readonly connectionBody: ReturnType<typeof connectionBody>;
  readonly providers: ProviderStore;
  /** Reads the body that stores a provider. */
  readonly providerBody: ReturnType<typeof tenantProviderBody>;
  readonly registry: PolicyRegistry;
  readonly assistants: AssistantStore;
  readonly assistantRegistry: AssistantRegistry;
  readonly runs: RunGateway;
  readonly runIds: RunIds;
  readonly runRecords: RunRecords;
  readonly directory: RunDirectory;
  readonly conversations: ConversationDirectory;
  readonly queue: ApprovalQueue;
  readonly outcomes: OutcomeList;
  readonly escalations: EscalationDesk;
  readonly notifications: NotificationDesk;
  readonly consents: ConsentDesk;
  readonly trail: AuditTrail;
  readonly auditSigner: AuditSigner;
  readonly storage: StorageMeter;
  readonly cursors: Cursors;
  readonly clock: Clock;
  readonly log: Log;
  /** Gives every contract, before policy. A route asks through `AuthorisedRequest.contracts`. */
  readonly source: ContractSource;
  /** The roles of a tenant's known people; undefined when tokens of an issuer may hold any. */
  readonly rolesOf: (tenantId: TenantId) => ReadonlySet<string> | undefined;
  /** The deployment gives context to its runs. */
  readonly hasContextHook: boolean;
  /** Reads the trace that a request belongs to. Undefined: the deployment traces nothing. */
  readonly readTrace: ((headers: Headers) => string | undefined) | undefined;
  /** Wires that a reader may name; the first is the default. */
  readonly wires: ClientWires;
  /** Reads tools that clients declare. Undefined: the deployment takes none. */
  readonly clientTools: ClientTools | undefined;
  /** Models that a request may name; the first is the default. */
  readonly models: ModelCatalog["offered"];
  /** The pages of the deployment. */
  readonly pages: readonly Page[];
  /** Answers with the static file of an address. */
  readonly readAsset: (request: Request) => Promise<Response>;
}
