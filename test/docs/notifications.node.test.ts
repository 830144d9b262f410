import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { freePort } from "../../cli/development/free-port.ts";
import { signWebhook } from "../../src/adapters/notification/webhook-signature.ts";
import { blocksIn } from "./code-blocks.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const relay = blocksIn("ts").find(({ path }) => path === "slack-relay.ts");
const folder = mkdtempSync(join(tmpdir(), "interlock-relay-"));
const messages: { readonly text: string }[] = [];
let slackStatus = 200;
let slack: Server;
let relaying: ChildProcess;
let url: string;

beforeAll(async () => {
  slack = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      if (slackStatus === 200) messages.push(JSON.parse(body) as { text: string });
      response.writeHead(slackStatus).end();
    })();
  }).listen(0, "127.0.0.1");
  await once(slack, "listening");
  const port = await freePort();
  url = `http://127.0.0.1:${port}/`;
  const file = join(folder, "slack-relay.ts");
  writeFileSync(file, relay?.text ?? "");
  const SLACK_URL = `http://127.0.0.1:${(slack.address() as AddressInfo).port}/`;
  const env = { ...process.env, WEBHOOK_SECRET: SECRET, SLACK_URL, PORT: `${port}` };
  relaying = spawn(process.execPath, ["--no-warnings", file], { env, stdio: "inherit" });
  // Node needs a moment to load the file.
  await vi.waitFor(() => fetch(url), { timeout: 60_000 });
});
afterAll(() => {
  relaying.kill();
  slack.close();
  rmSync(folder, { recursive: true });
});

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
  secret = SECRET,
  instead,
}: Sent): Promise<number> {
  const data = { toolId: "bank__pay", toolTitle: "Pay <now>", riskClass: "HIGH_RISK_EXTERNAL" };
  const link = "https://agent.example/approvals#appr_1";
  const body = JSON.stringify({ type: "approval.requested", data: { ...data, link } });
  const headers = await signWebhook(secret, { id, sentAtMs, text: body });
  return (await fetch(url, { method: "POST", headers, body: instead ?? body })).status;
}

test("the relay of docs/notifications.md has at most thirty lines", () => {
  const lines = relay?.text.split("\n").filter((line) => line.trim() !== "") ?? [];
  expect(lines.length).toBeLessThanOrEqual(30);
});

test("it makes one message of a notification, however often that is delivered", async () => {
  slackStatus = 500;
  expect(await send({ id: "msg_1" })).toBe(502);
  slackStatus = 200;
  expect([await send({ id: "msg_1" }), await send({ id: "msg_1" })]).toEqual([204, 204]);
  const words = "approval.requested: Pay &lt;now> (HIGH_RISK_EXTERNAL)";
  const link = "<https://agent.example/approvals#appr_1|Open it>";
  expect(messages.splice(0)).toEqual([{ text: `${words}\n${link}` }]);
});

test.each<[string, Sent]>([
  ["signed with another secret", { id: "msg_2", secret: `whsec_${"A".repeat(43)}=` }],
  ["whose body was changed", { id: "msg_3", instead: '{"type":"approval.requested","data":{}}' }],
  ["that is six minutes old", { id: "msg_4", sentAtMs: Date.now() - 360_000 }],
])("it refuses a message %s", async (_name, sent) => {
  expect(await send(sent)).toBe(401);
  expect(messages).toEqual([]);
});
