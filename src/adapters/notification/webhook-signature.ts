/** What a webhook is signed over. */
export interface WebhookMessage {
  readonly id: string;
  readonly sentAtMs: number;
  readonly text: string;
}

/**
 * Makes the headers of a signed webhook: HMAC-SHA-256 over id, time and body, as
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md (read
 * 2026-11-24) describes it. `secret`: `whsec_` and the key in base64.
 */
export async function signWebhook(
  secret: string,
  { id, sentAtMs, text }: WebhookMessage,
): Promise<Readonly<Record<string, string>>> {
  const seconds = Math.floor(sentAtMs / 1_000);
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const bytes = Uint8Array.from(atob(secret.slice(PREFIX.length)), (char) => char.charCodeAt(0));
  const key = await crypto.subtle.importKey("raw", bytes, hmac, false, ["sign"]);
  const signed = new TextEncoder().encode(`${id}.${seconds}.${text}`);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, signed));
  const base64 = btoa(Array.from(signature, (byte) => String.fromCharCode(byte)).join(""));
  return {
    "webhook-id": id,
    "webhook-timestamp": `${seconds}`,
    "webhook-signature": `v1,${base64}`,
  };
}

const PREFIX = "whsec_";
