import type { ApprovalStatus } from "../protocol/approval.ts";
import type { ApprovalPattern } from "../protocol/approval-requirement.ts";
import type { ApprovalSummary } from "../protocol/approval-view.ts";
import type { ActorId, TenantId } from "../protocol/ids.ts";
import type { Place, Slice } from "../protocol/slice.ts";

/** Which questions a caller wants to see, and may. */
export interface ApprovalQuery {
  /** Who looks. */
  readonly viewer: ApprovalViewer;
  readonly status: ApprovalStatus;
  readonly pattern?: ApprovalPattern;
  readonly tool?: string;
  /** Only those that were asked on the viewer's account. */
  readonly isMine: boolean;
  /** Only those that the viewer may decide. */
  readonly isDecidable: boolean;
  readonly sort: "expiry" | "newest";
  readonly limit: number;
  readonly after?: Place;
}

/** Who looks at the queue. */
export interface ApprovalViewer {
  readonly person: ActorId;
  readonly roles: readonly string[];
  /** A person, for themself; nobody else decides anything. */
  readonly decides: boolean;
  /** Otherwise: what was asked on the viewer's account, and what its roles fit. */
  readonly seesAll: boolean;
}

/**
 * Lists what people of a tenant are asked.
 * Contract: it is told of questions and answers a little later than they happen, so the run alone says
 * whether an answer still counts; a question whose time is up is shown as expired at once. Throws when the tenant's object
 * cannot be reached.
 */
export interface ApprovalQueue {
  list(tenantId: TenantId, query: ApprovalQuery): Promise<Slice<ApprovalSummary>>;
}
