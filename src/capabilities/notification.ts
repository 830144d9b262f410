import type { TenantId } from "../protocol/identity/ids.ts";
import type {
  Notification,
  UndeliveredNotification,
} from "../protocol/notification/notification.ts";
import type { Result } from "../protocol/outcome/result.ts";
import type { ListPage, ListPosition } from "../protocol/list/page.ts";

/** Why the receiver may not have a notification. */
export type SendFailure =
  | "unknown_connection"
  | "unreadable_connection"
  /** The name of the receiver leads to no address. */
  | "address_unknown"
  /** The name of the receiver leads to an address that no public service has. */
  | "address_not_public"
  | "unreachable"
  /** The receiver answered with another status than 2xx. */
  | `status_${number}`;

/**
 * Sends one notification to the receiver that a connection names, signed.
 * Contract: never throws, and ends within seconds. A notification that is sent again has the same
 * id. After a failure the receiver may have it all the same.
 */
export interface NotificationSender {
  send(
    to: { readonly tenantId: TenantId; readonly connection: string },
    notification: Pick<Notification, "id" | "body">,
  ): Promise<Result<void, SendFailure>>;
}

/** Selects notifications that were not delivered, the oldest first. */
export interface NotificationQuery {
  /** Absent: both. */
  readonly state?: UndeliveredNotification["state"] | undefined;
  readonly limit: number;
  readonly after?: ListPosition | undefined;
}

/**
 * What the receiver of a tenant does not have.
 * Contract: `retry` answers false for an id that is not in the list; repeating it changes nothing.
 * Throws when the tenant's object cannot be reached.
 */
export interface NotificationDesk {
  list(tenantId: TenantId, query: NotificationQuery): Promise<ListPage<UndeliveredNotification>>;
  retry(tenantId: TenantId, id: string): Promise<boolean>;
}

/** Typed RPC of a tenant's object about its notifications. */
export interface NotificationMethods {
  notifications(query: NotificationQuery): Promise<ListPage<UndeliveredNotification>>;
  retryNotification(id: string): Promise<boolean>;
}
