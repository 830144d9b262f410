import { createHash } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { verifyChain } from "../../cli/audit/verify-chain.ts";
import { toCanonicalJson } from "../../src/protocol/json/canonical-hash.ts";
import { script } from "../fakes/scripted-model.ts";
import { APPROVE, askFor, decide, ended, openOf, REJECT, viewOf } from "../shared/people.ts";
import { rowsOf, untilState } from "../shared/run-object.ts";
import { bindings, runIdOf, seedPolicies, send, stateOf } from "../shared/worker.ts";

beforeAll(seedPolicies);

const PIN = "4831";

/** The same request for every PIN; its sender withholds nothing but the PIN. */
const argsOf = (pin: string): string => JSON.stringify({ to: "bakery", amount: 40, pin });
const bodyOf = (pin: string): object => ({
  messages: [
    {
      role: "user",
      content: script(
        { calls: [{ id: "call_1", name: "lab__transfer", args: argsOf(pin) }] },
        { text: ["done"] },
      ),
    },
  ],
});

async function ask(key: string, pin = PIN): Promise<{ runId: string; approvalId: string }> {
  const response = await send("/v1/chat", {
    caller: "ann",
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify(bodyOf(pin)),
  });
  const runId = runIdOf(response);
  const state = await untilState(runId, { status: "waiting" }, "ann");
  return { runId, approvalId: openOf(state)[0] ?? "none" };
}

async function read(path: string, caller: "ann" | "bob" | "chief"): Promise<string> {
  const response = await send(path, { caller });
  expect(response.status).toBe(200);
  return response.text();
}

async function* exportedLines(): AsyncGenerator<string> {
  yield* (await read("/v1/audit?format=jsonl", "chief")).trimEnd().split("\n");
}

/** Names and values of everything that KV holds. */
async function readKv(): Promise<string> {
  const { keys } = await bindings.IDEMPOTENCY.list();
  const values = await Promise.all(keys.map(({ name }) => bindings.IDEMPOTENCY.get(name)));
  return JSON.stringify([keys.map(({ name }) => name), values]);
}

/** Hashes a text; `prefixed` is the form in which Interlock writes a hash. */
function hash(text: string): { readonly prefixed: string; readonly forms: readonly string[] } {
  const digest = createHash("sha256").update(text).digest();
  const hex = digest.toString("hex");
  return {
    prefixed: `sha256:${hex}`,
    forms: [hex, digest.toString("base64").slice(0, 43), digest.toString("base64url")],
  };
}

/** Every plain hash that an attacker can compute who knows everything but the PIN. */
function guess(runId: string, pin: string): { key: string; forms: readonly string[] } {
  const payload = hash(toCanonicalJson(JSON.parse(argsOf(pin))));
  const operation = ["user:ann", "lab__transfer", "1.0.0", "1:call_1", payload.prefixed];
  const key = hash(JSON.stringify([runId, runId, "guild", ...operation]));
  const others = [
    argsOf(pin),
    toCanonicalJson(bodyOf(pin) as never),
    key.prefixed,
    payload.prefixed,
    pin,
  ];
  return {
    key: key.prefixed,
    forms: [payload, key, ...others.map(hash)].flatMap(({ forms }) => forms),
  };
}

test("a PIN that redaction withholds fits no value that leaves the run, among all 10,000 PINs", async () => {
  const { runId, approvalId } = await ask("withheld");
  const seen = [
    JSON.stringify(await viewOf(approvalId, "bob")),
    await read("/v1/approvals", "bob"),
  ];
  const decided = [
    await decide(approvalId, "bob", APPROVE),
    await decide(approvalId, "cat", APPROVE),
    await decide(approvalId, "cat", APPROVE),
  ];
  expect(decided.map(({ status }) => status)).toEqual([200, 200, 200]);
  for (const answer of decided) seen.push(await answer.text());
  await ended(runId);
  const [call] = (await stateOf(runId, "ann")).toolCalls;
  const { idempotencyKeyHash = "none", payloadHash = "none" } = call ?? {};
  await expect.poll(readKv).toContain(idempotencyKeyHash);
  await expect.poll(readKv).toContain(`run/${runId}`);
  await expect.poll(() => read("/v1/audit", "chief")).toContain("run.ended");
  seen.push(
    await readKv(),
    await read("/v1/audit", "chief"),
    await read("/v1/audit?format=jsonl", "chief"),
    await read("/v1/audit?format=jsonl&view=prompt_history", "chief"),
    await read(`/v1/runs/${runId}`, "ann"),
    await read("/v1/runs", "ann"),
    await read(`/v1/runs/${runId}/events`, "ann"),
    await read(`/v1/approvals/${approvalId}`, "bob"),
  );
  expect(seen.join("\n")).not.toMatch(/pin\W+4831/);
  // The guesses are right: the rows of the run's object hold what the attacker looks for.
  const [row] = await rowsOf(runId, "SELECT binding FROM invocations");
  expect(row?.["binding"]).toContain(guess(runId, PIN).key);
  const shown = new Set(seen.join("\n").match(/[A-Za-z0-9+/_-]{43,}/g));
  expect(shown).toContain(payloadHash.replace("hmac-sha256:", ""));
  const found = Array.from({ length: 10_000 }, (_, pin) => String(pin).padStart(4, "0")).filter(
    (pin) => guess(runId, pin).forms.some((form) => shown.has(form)),
  );
  expect(found).toEqual([]);
});

test("the attacker's own run shows another fingerprint for the same PIN", async () => {
  const [theirs, own] = [await ask("theirs"), await ask("own")];
  const [one, other] = [
    await viewOf(theirs.approvalId, "bob"),
    await viewOf(own.approvalId, "bob"),
  ];
  expect(one.payloadHash).toMatch(/^hmac-sha256:[0-9a-f]{64}$/);
  expect(one.payloadHash).not.toBe(other.payloadHash);
  expect(one.packet.idempotencyFingerprint).not.toBe(other.packet.idempotencyFingerprint);
  for (const { approvalId } of [theirs, own]) await decide(approvalId, "bob", REJECT);
});

test("the approval, the run, the audit log and KV show one fingerprint of one call", async () => {
  const { runId, approvalId } = await ask("agreeing");
  const { payloadHash, packet } = await viewOf(approvalId, "bob");
  await decide(approvalId, "bob", APPROVE);
  await decide(approvalId, "cat", APPROVE);
  await ended(runId);
  const { toolCalls } = await stateOf(runId, "ann");
  const idempotencyKeyHash = packet.idempotencyFingerprint;
  expect(toolCalls).toMatchObject([{ payloadHash, idempotencyKeyHash }]);
  const name = `invocation/guild/${idempotencyKeyHash}`;
  await expect.poll(() => bindings.IDEMPOTENCY.get(name)).toContain(payloadHash);
  await expect
    .poll(async () => (await read(`/v1/audit?run=${runId}`, "chief")).match(/hmac-sha256/g))
    .toHaveLength(6);
  expect(await verifyChain(exportedLines(), {})).toMatchObject({ kind: "whole" });
});

test("a description that names the PIN is shown to approvers without it", async () => {
  const args = JSON.stringify({ what: "hello", pin: PIN });
  const calls = [{ id: "call_1", name: "lab__notify", args }];
  const { runId, approvalId } = await askFor(calls);
  const { packet } = await viewOf(approvalId, "ann");
  expect(packet.consequence).toBe("A customer reads it, after PIN •••.");
  expect(JSON.stringify(packet)).not.toContain(PIN);
  expect(await read(`/v1/runs/${runId}`, "ann")).not.toContain(PIN);
  expect((await decide(approvalId, "ann", REJECT)).status).toBe(200);
  await ended(runId);
});
