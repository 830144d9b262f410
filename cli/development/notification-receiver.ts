import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { NotificationBody } from "../../src/protocol/notification/notification.ts";
import type { DevelopmentTenant } from "./store-tenant.ts";

/** Where the development server receives notifications. */
export const RECEIVER_PATH = "/__development/notifications";
/** The id of the connection that leads there. */
const CONNECTION = "notifications";

/** Prints the notifications of a tenant. */
export interface NotificationReceiver {
  /** Stores the connection that leads here. */
  readonly connect: (tenant: Pick<DevelopmentTenant, "url" | "own">) => Promise<void>;
  /** Prints a notification; false for one that the Worker did not sign. */
  readonly receive: (headers: IncomingHttpHeaders, body: string) => boolean;
}

/**
 * Makes the receiver of notifications that comes with development. Its secret lives as long as the
 * process.
 * Threat: a page that makes its reader's terminal show what the Worker never sent.
 */
export function createNotificationReceiver(
  port: number,
  print: (line: string) => void,
): NotificationReceiver {
  const key = randomBytes(32);
  const connection = {
    kind: "webhook",
    address: `http://127.0.0.1:${port}${RECEIVER_PATH}`,
    secret: `whsec_${key.toString("base64")}`,
  };
  return {
    async connect({ url, own }) {
      const headers = { ...own, "content-type": "application/json" };
      const body = JSON.stringify(connection);
      await fetch(`${url}/v1/connections/${CONNECTION}`, { method: "PUT", headers, body });
    },
    receive(headers, body) {
      const signed = `${text(headers, "id")}.${text(headers, "timestamp")}.${body}`;
      const made = Buffer.from(`v1,${createHmac("sha256", key).update(signed).digest("base64")}`);
      const given = Buffer.from(text(headers, "signature"));
      if (given.length !== made.length || !timingSafeEqual(given, made)) return false;
      print(formatNotification(JSON.parse(body) as NotificationBody));
      return true;
    },
  };
}

function text(headers: IncomingHttpHeaders, name: string): string {
  return String(headers[`webhook-${name}`] ?? "");
}

/** Writes a notification on one line that moves no cursor. */
function formatNotification({ type, data }: NotificationBody): string {
  const { toolTitle, toolId = "", reason, patterns = "", link = "" } = data;
  const line = `Notification: ${type}, ${reason ?? patterns}, ${toolTitle ?? toolId}: ${link}`;
  return line.replaceAll(/\p{C}/gu, "");
}
