import { runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, test } from "vitest";
import { RETRY_DELAYS_MS } from "../../durable-objects/tenant/notifications/notification-delivery.ts";
import type { ApprovalId } from "../../src/protocol/identity/ids.ts";
import type { UndeliveredNotification } from "../../src/protocol/notification/notification.ts";
import { RECEIVER_SECRET, type ReceivedWebhook } from "../fakes/webhook-receiver.ts";
import { invoke, read } from "../shared/invoke.ts";
import {
  answerWith,
  DECISIONS,
  passTime,
  receivedAt,
  storeReceiver,
  storeWebhook,
  TOLD,
  untilReceived,
} from "../shared/notifications.ts";
import { askFor, callOf, decide, REJECT } from "../shared/people.ts";
import { refusalOf } from "../shared/run-object.ts";
import {
  approvalNotice,
  auditNotice,
  runNotice,
  tell,
  tenantOf,
} from "../shared/tenant-notices.ts";
import { govern, seedPolicies, send, type Caller } from "../shared/worker.ts";

const POLICY = {
  allowedTools: ["lab__file", "lab__call_service"],
  approvals: [{ tools: ["lab__file"], pattern: "operator_review" }],
  grants: [{ connectionId: "ops", tools: ["lab__call_service"] }],
  ...TOLD,
};

beforeAll(async () => {
  await seedPolicies();
  await storeReceiver("/ok");
  await govern(POLICY);
});

/** Lets a run of bendable tell of a broken output. */
function tellBroken(runId: string, seq = 1): Promise<void> {
  const entry = { action: "call.ended", escalation: "broken_output", toolId: "lab__x" } as const;
  return tell("bendable", runId, [runNotice(seq), auditNotice(seq + 1, entry)]);
}

async function undelivered(
  query = "",
  caller: Caller = "bendable",
): Promise<readonly UndeliveredNotification[]> {
  const response = await send(`/v1/notifications${query}`, { caller });
  expect(response.status).toBe(200);
  return (await response.json<{ notifications: UndeliveredNotification[] }>()).notifications;
}

const ofRun = async (runId: string): Promise<readonly UndeliveredNotification[]> =>
  (await undelivered("?limit=100")).filter((one) => one.runId === runId);

function retry(id: string, caller: Caller = "bendable"): Promise<Response> {
  return send(`/v1/notifications/${id}/retry`, { caller, method: "POST" });
}

/** Signs as the specification of the headers says, without the product's code. */
async function signatureOf({ id, timestamp, text }: ReceivedWebhook): Promise<string> {
  const bytes = Uint8Array.from(atob(RECEIVER_SECRET.slice(6)), (char) => char.charCodeAt(0));
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes, hmac, false, ["sign"]);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  const made = new Uint8Array(await crypto.subtle.sign("HMAC", key, signed));
  return `v1,${btoa(String.fromCharCode(...made))}`;
}

describe("a pending approval", () => {
  test("is told once, signed, with a link and without what is asked", async () => {
    await storeReceiver("/approval");
    const call = callOf("lab__file", { what: "the-hidden-dossier" });
    const { runId, approvalId } = await askFor([call], "bendable");
    const [told] = await untilReceived("/approval", 1);
    if (!told) throw new Error("nothing was told");
    expect(told.id).toBe(`msg_${approvalId}`);
    expect(told.signature).toBe(await signatureOf(told));
    expect(Math.abs(Number(told.timestamp) - Date.now() / 1_000)).toBeLessThan(300);
    expect(JSON.parse(told.text)).toEqual({
      type: "approval.requested",
      timestamp: expect.any(String),
      data: {
        approvalId,
        patterns: "operator_review",
        riskClass: "LOW_RISK_INTERNAL",
        runId,
        toolId: "lab__file",
        toolVersion: "1.0.0",
        requestedBy: "user:bendable",
        expiresAt: expect.any(String),
        link: `${DECISIONS}#${approvalId}`,
      },
    });
    expect(told.text).not.toContain("dossier");
    await decide(approvalId, "oscar", REJECT);
    await passTime("bendable");
    expect(await receivedAt("/approval")).toHaveLength(1);
    expect(await ofRun(runId)).toEqual([]);
  });
});

test("an approval is told once, however often its run reports that it waits", async () => {
  await storeReceiver("/reports");
  for (const seq of [1, 2]) {
    const waiting = { approvalId: "appr_reports" as ApprovalId, status: "pending" as const };
    await tell("bendable", "run_reports", [approvalNotice(seq, waiting)]);
    await untilReceived("/reports", 1);
  }
  await passTime("bendable");
  expect(await receivedAt("/reports")).toHaveLength(1);
});

describe("a delivery", () => {
  test("that fails is tried again with the same id and a new time, until the receiver has it", async () => {
    await answerWith("/later", 503);
    await storeReceiver("/later");
    await tellBroken("run_later");
    await untilReceived("/later", 1);
    await expect
      .poll(() => ofRun("run_later"))
      .toMatchObject([{ state: "waiting", attempts: 1, failure: "status_503" }]);
    await answerWith("/later", 204);
    await passTime("bendable");
    const [first, second, ...others] = await receivedAt("/later");
    expect([first?.id, first?.text, others]).toEqual([second?.id, second?.text, []]);
    expect(second && (await signatureOf(second))).toBe(second?.signature);
    expect(await ofRun("run_later")).toEqual([]);
  });

  test("whose last attempt failed is dead, listed, and tried again when an operator says so", async () => {
    await answerWith("/dead", 500);
    await storeReceiver("/dead");
    await tellBroken("run_dead");
    await untilReceived("/dead", 1);
    for (const _delay of RETRY_DELAYS_MS) await passTime("bendable");
    await expect
      .poll(() => undelivered("?state=dead"))
      .toMatchObject([{ runId: "run_dead", failure: "status_500", attempts: 8 }]);
    await passTime("bendable");
    expect(await receivedAt("/dead")).toHaveLength(8);
    await answerWith("/dead", 200);
    const [dead] = await ofRun("run_dead");
    const unknown = await refusalOf(await retry("msg_none"));
    expect(await refusalOf(await retry(dead?.id ?? "", "acme"))).toEqual(unknown);
    expect(unknown).toEqual([404, "notification_not_found"]);
    expect((await retry(dead?.id ?? "")).status).toBe(202);
    await untilReceived("/dead", 9);
    await expect.poll(() => ofRun("run_dead")).toEqual([]);
  });

  test("goes on after the tenant's object died, and is not repeated for a notice that came again", async () => {
    await storeReceiver("/crash");
    await tellBroken("run_crash");
    await runInDurableObject(tenantOf("bendable"), (_object, state) => state.abort("crash")).catch(
      () => {},
    );
    await tellBroken("run_crash");
    await untilReceived("/crash", 1);
    await passTime("bendable");
    expect(await receivedAt("/crash")).toHaveLength(1);
  });

  test("of a run that is erased does not happen", async () => {
    await answerWith("/erased", 500);
    await storeReceiver("/erased");
    await tellBroken("run_erased");
    await expect.poll(() => ofRun("run_erased")).toMatchObject([{ failure: "status_500" }]);
    await tell("bendable", "run_erased", [{ seq: 3, notice: { type: "erased" } }]);
    expect(await ofRun("run_erased")).toEqual([]);
  });
});

describe("the address", () => {
  test.each([
    "http://hooks.test/a",
    "https://127.0.0.1/a",
    "https://localhost/a",
    "https://[::1]/a",
    "https://2130706433/a",
    "https://10.0.0.7/a",
    "https://ops.internal/a",
    "https://user:word@hooks.test/a",
    "https://hooks.test/a?token=secret",
    "ftp://hooks.test/a",
  ])("%s is refused when it is stored, and not repeated", async (address) => {
    const body = JSON.stringify({ kind: "webhook", address, secret: RECEIVER_SECRET });
    const answer = await send("/v1/connections/refused", {
      caller: "bendable",
      method: "PUT",
      headers: { "content-type": "application/json" },
      body,
    });
    expect(answer.status).toBe(422);
    const said = await answer.text();
    expect([said.includes(address), said.includes("whsec_")]).toEqual([false, false]);
  });

  test.each([
    ["inside.test", "address_not_public"],
    ["inside6.test", "address_not_public"],
    ["metadata.test", "address_not_public"],
    ["mixed.test", "address_not_public"],
    ["nowhere.test", "address_unknown"],
  ])("of the name %s gets nothing: %s", async (name, failure) => {
    const runId = `run_${name.replace(".", "_")}`;
    await storeWebhook(`https://${name}/hook`);
    await tellBroken(runId);
    await expect.poll(() => ofRun(runId)).toMatchObject([{ state: "waiting", failure }]);
    expect((await receivedAt()).filter(({ host }) => host === name)).toEqual([]);
  });

  test("is not followed elsewhere", async () => {
    await answerWith("/moved", 307);
    await storeReceiver("/moved");
    await tellBroken("run_moved");
    await expect.poll(() => ofRun("run_moved")).toMatchObject([{ failure: "status_307" }]);
    expect((await receivedAt()).filter(({ host }) => host === "inside.test")).toEqual([]);
  });
});

test("the secret of a webhook is no credential of a tool", async () => {
  await storeReceiver("/ok");
  const more = { connectionIds: ["ops"] };
  const asked = await invoke("lab__call_service", {}, { caller: "bendable", more });
  const { status, observation } = await read(asked);
  expect([status, observation?.status.taxonomy_class]).toEqual([200, "DEPENDENCY_UNAVAILABLE"]);
  expect(observation?.result_payload.errors[0]?.code).toBe("unreadable_connection");
});

test("a tenant whose policy names no place tells nobody, and has no table for it", async () => {
  await tell("rival", "run_quiet", [
    runNotice(1),
    auditNotice(2, { action: "call.ended", escalation: "broken_output", toolId: "lab__x" }),
  ]);
  expect(await undelivered("", "rival")).toEqual([]);
});
