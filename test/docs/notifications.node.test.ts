import { afterAll, beforeAll, expect, test } from "vitest";
import { signWebhook } from "../../src/adapters/notification/webhook-signature.ts";
import { RELAY, SlackRelay } from "../shared/slack-relay.ts";

let relay: SlackRelay;
beforeAll(async () => {
  relay = await SlackRelay.start();
});
afterAll(() => relay.close());

interface Sent {
  readonly id: string;
  readonly sentAtMs?: number;
  readonly secret?: string;
  /** What is sent in place of the signed body. */
  readonly instead?: string;
}

/** Sends a notification as the product does. */
async function send({
  id,
  sentAtMs = Date.now(),
  secret = relay.secret,
  instead,
}: Sent): Promise<number> {
  const data = { toolId: "bank__pay", toolTitle: "Pay <now>", riskClass: "HIGH_RISK_EXTERNAL" };
  const link = "https://agent.example/approvals#appr_1";
  const body = JSON.stringify({ type: "approval.requested", data: { ...data, link } });
  const headers = await signWebhook(secret, { id, sentAtMs, text: body });
  return (await fetch(relay.url, { method: "POST", headers, body: instead ?? body })).status;
}

test("the relay of docs/notifications.md has at most thirty lines", () => {
  const lines = RELAY?.text.split("\n").filter((line) => line.trim() !== "") ?? [];
  expect(lines.length).toBeLessThanOrEqual(30);
});

test("it makes one message of a notification, however often that is delivered", async () => {
  relay.slackStatus = 500;
  expect(await send({ id: "msg_1" })).toBe(502);
  relay.slackStatus = 200;
  expect([await send({ id: "msg_1" }), await send({ id: "msg_1" })]).toEqual([204, 204]);
  const words = "approval.requested: Pay &lt;now> (HIGH_RISK_EXTERNAL)";
  const link = "<https://agent.example/approvals#appr_1|Open it>";
  expect(relay.messages.splice(0)).toEqual([{ text: `${words}\n${link}` }]);
});

test.each<[string, Sent]>([
  ["signed with another secret", { id: "msg_2", secret: `whsec_${"A".repeat(43)}=` }],
  ["whose body was changed", { id: "msg_3", instead: '{"type":"approval.requested","data":{}}' }],
  ["that is six minutes old", { id: "msg_4", sentAtMs: Date.now() - 360_000 }],
])("it refuses a message %s", async (_name, sent) => {
  expect(await send(sent)).toBe(401);
  expect(relay.messages).toEqual([]);
});
