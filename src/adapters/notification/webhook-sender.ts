import type { WebhookBroker } from "../../capabilities/connection.ts";
import type { Egress } from "../../capabilities/http.ts";
import type { NotificationSender, SendFailure } from "../../capabilities/notification.ts";
import type { Clock } from "../../capabilities/system.ts";
import { isLoopback } from "../../protocol/connection/egress-host.ts";
import { parseConnectionId, type WebhookConnection } from "../../protocol/connection/stored.ts";
import type { JsonValue } from "../../protocol/json/value.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { resolveHost } from "../egress/resolve-host.ts";
import { signWebhook } from "./webhook-signature.ts";

interface WebhookSenderPorts {
  readonly broker: WebhookBroker;
  readonly egress: Egress;
  readonly clock: Clock;
}

/** How long one delivery may take, the resolution of its name included. */
const MAX_SEND_MS = 10_000;
/** Of the answer only the status counts. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** Sends notifications as signed webhooks. */
export function createWebhookSender(ports: WebhookSenderPorts): NotificationSender {
  return {
    async send({ tenantId, connection }, notification) {
      const id = parseConnectionId(connection);
      const opened = id && (await ports.broker.openWebhook(tenantId, id));
      if (!opened) return fail("unknown_connection");
      if (!opened.ok) return fail(opened.failure.code);
      const ending = new AbortController();
      const cancel = ports.clock.schedule(MAX_SEND_MS, () => ending.abort());
      const text = JSON.stringify(notification.body);
      const message = { id: notification.id, sentAtMs: ports.clock.nowMs(), text };
      return post(ports, opened.value, { message, signal: ending.signal }).finally(cancel);
    },
  };
}

interface Post {
  readonly message: Parameters<typeof signWebhook>[1];
  readonly signal: AbortSignal;
}

async function post(
  { egress }: WebhookSenderPorts,
  { address, secret }: WebhookConnection,
  { message, signal }: Post,
): Promise<Result<void, SendFailure>> {
  const url = new URL(address);
  // Only development stores an address of this machine.
  const leads = isLoopback(url) ? "public" : await resolveHost(egress, url.hostname, signal);
  if (leads !== "public") {
    return fail(leads === "unknown" ? "address_unknown" : "address_not_public");
  }
  const client = egress.bind({
    hosts: [url.host],
    upstreams: [],
    keyHeader: "",
    mayAct: true,
    mayAuthorise: false,
    maxAnswerBytes: MAX_ANSWER_BYTES,
    signal,
  });
  const headers = await signWebhook(secret, message);
  const body = JSON.parse(message.text) as JsonValue;
  const answer = await client.send({ method: "POST", url: url.href, headers, body });
  // An answer that is too long is a delivery all the same, but its status is not known.
  if (!answer.ok) return fail("unreachable");
  const { status } = answer.value;
  return status >= 200 && status < 300 ? ok(undefined) : fail(`status_${status}` as const);
}
