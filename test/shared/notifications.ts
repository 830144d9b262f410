import { runInDurableObject } from "cloudflare:test";
import { expect } from "vitest";
import { RECEIVER, RECEIVER_SECRET, type ReceivedWebhook } from "../fakes/webhook-receiver.ts";
import { tenantOf, tenantRows } from "./tenant-notices.ts";
import { putConnection, type Caller } from "./worker.ts";

/** The page that links in notifications lead to. */
export const DECISIONS = "https://agent.example/approvals";
/** What a policy says to be told at the connection `ops`. */
export const TOLD = { notifications: { connection: "ops", page: DECISIONS } };

/** Stores the connection to a path of the receiver. */
export function storeReceiver(path: string, caller: Caller = "bendable"): Promise<void> {
  return storeWebhook(`${RECEIVER}${path}`, caller);
}

export function storeWebhook(address: string, caller: Caller = "bendable"): Promise<void> {
  return putConnection("ops", { kind: "webhook", address, secret: RECEIVER_SECRET }, caller);
}

/** Returns what a path of the receiver has got, or all of it. */
export async function receivedAt(path = "/"): Promise<readonly ReceivedWebhook[]> {
  return (await fetch(`${RECEIVER}${path}`)).json();
}

/** Sets what a path answers. */
export async function answerWith(path: string, status: number): Promise<void> {
  await fetch(`${RECEIVER}${path}`, { method: "PUT", body: `${status}` });
}

/** Waits until a path has got so many webhooks. */
export async function untilReceived(
  path: string,
  count: number,
): Promise<readonly ReceivedWebhook[]> {
  await expect.poll(async () => (await receivedAt(path)).length).toBe(count);
  return receivedAt(path);
}

/** Makes the next attempts of a tenant due, and lets them happen. */
export async function passTime(tenant: string): Promise<void> {
  await tenantRows(tenant, "UPDATE notifications SET due_ms = 1 WHERE due_ms IS NOT NULL");
  await runInDurableObject(tenantOf(tenant), (object) => object.alarm());
}
