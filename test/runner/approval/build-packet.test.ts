import { NO_FLOW } from "../../../src/runner/flow/evidence.ts";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { createFingerprints } from "../../../src/adapters/keys/hmac-fingerprints.ts";
import type { HttpClient } from "../../../src/capabilities/http.ts";
import type { AttemptScope } from "../../../src/capabilities/tool.ts";
import { defineTool } from "../../../src/contracts/define/define-tool.ts";
import { registerContracts } from "../../../src/contracts/check/register.ts";
import { bindTools } from "../../../src/contracts/bind/tool-source.ts";
import type { ConfirmationPacket } from "../../../src/protocol/approval/packet.ts";
import type { ToolCallId } from "../../../src/protocol/identity/ids.ts";
import type { JsonObject } from "../../../src/protocol/json/value.ts";
import { formatPacketLines } from "../../../src/protocol/approval/packet-lines.ts";
import { ok } from "../../../src/protocol/outcome/result.ts";
import { readPacket } from "../../../src/runner/approval/build-packet.ts";
import {
  describeCompensation,
  type UndoPorts,
} from "../../../src/runner/approval/describe-compensation.ts";
import { previewStates } from "../../../src/runner/approval/preview-states.ts";
import { FakeClock } from "../../../src/testing/time/fake-clock.ts";
import {
  fakeEgress,
  fakeRunCapabilities,
  newestOf,
  policyOf,
  fakeScope,
} from "../../../src/testing/fakes/fakes.ts";
import { NO_USED_NAMES } from "../../../src/testing/memory/no-used-names.ts";
import { person } from "../../../src/testing/run/person.ts";
import { MemoryLog } from "../../../src/testing/memory/memory-log.ts";
import { contextOf, passing, RUN_ID } from "../../../src/testing/fakes/runner-ports.ts";

const KEY = "key-of-the-operation";
const FINGERPRINTS = createFingerprints("a secret of thirty-two characters");
const ARGS = {
  to: "ann@example.com",
  amount: 40,
  card: { number: "4111", holder: "Ann" },
  items: [
    { name: "a", price: 1 },
    { name: "b", price: 2 },
  ],
};

const base = {
  name: "test__refund",
  version: "2.1.0",
  description: "Refunds money.",
  input: v.strictObject({
    to: v.string(),
    amount: v.number(),
    card: v.strictObject({ number: v.string(), holder: v.string() }),
    items: v.array(v.strictObject({ name: v.string(), price: v.number() })),
  }),
  output: v.strictObject({ ok: v.boolean() }),
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "external_side_effect",
  redaction: { args: ["to", "amount", "card.holder", "items.*.name"], output: ["ok"] },
  capabilities: ["clock"],
  transactional: { semantics: "irreversible_pivot" },
  execute: () => ok({ ok: true }),
} as const;

/** Builds the packet of one call while the clock advances. */
async function packetOf(change: object = {}, args: JsonObject = ARGS): Promise<ConfirmationPacket> {
  const clock = new FakeClock();
  const contract = defineTool({ ...base, ...change } as never);
  const { runTitle } = fakeRunCapabilities();
  const egress = fakeEgress(() => Promise.resolve(Response.json({})));
  const tools = bindTools(registerContracts([contract] as never), {
    clock,
    runTitle,
    egress,
  });
  const tool = tools.getBoundTool("test__refund", "2.1.0");
  if (!tool) throw new Error("no tool");
  const context = contextOf("call_1" as ToolCallId);
  const { signal } = new AbortController();
  const policy = policyOf({ allowedTools: [tool.id] });
  const ports = {
    clock,
    policy,
    tools,
    versions: newestOf(tools),
    fingerprints: FINGERPRINTS,
    usedNames: NO_USED_NAMES,
    principal: person("ann"),
    log: new MemoryLog(),
    invocations: { find: () => undefined },
    flow: NO_FLOW,
  };
  const scope: AttemptScope = { ...fakeScope(), signal, idempotencyKey: KEY };
  const accepted = { args, shown: tool.redactArgs(args), payloadHash: "sha256:0" };
  const authority = { context, scope, write: () => undefined, close: () => undefined };
  const subject = { tool, signal, hasBegun: false, isStep: false, accepted, authority };
  const previewed = { ...subject, states: () => previewStates(ports, subject) };
  const { packet } = await passing(readPacket(ports, previewed), clock);
  return { ...packet, expiresAt: "2026-11-21T10:00:00.000Z" };
}

test("a packet shows the action, its target, its compensation and the rejection path", async () => {
  const packet = await packetOf({
    sideEffectClass: "CRITICAL_MUTATION",
    describe: ({ amount }: typeof ARGS) => ({
      action: `Refund ${amount} EUR`,
      consequence: "Ann gets her money.",
    }),
    redaction: { ...base.redaction, state: ["status"] },
    verification: {
      delaySeconds: 0,
      expect: () => ({ reference: "refund", state: { status: "refunded" } }),
    },
    verify: () => Promise.resolve({ kind: "unknown" }),
    preview: () =>
      Promise.resolve({ before: { status: "paid", secret: "s" }, after: { status: "refunded" } }),
  });
  expect(packet).toEqual({
    actionName: { title: "Refund 40 EUR", tool: "test__refund", version: "2.1.0" },
    consequence: "Ann gets her money.",
    arguments: {
      shown: {
        to: "ann@example.com",
        amount: 40,
        card: { holder: "Ann" },
        items: [{ name: "a" }, { name: "b" }],
      },
      withheld: ["/card/number", "/items/0/price", "/items/1/price"],
    },
    beforeState: { status: "paid" },
    afterState: { status: "refunded" },
    idempotencyFingerprint: await FINGERPRINTS.of(contextOf("call_1" as ToolCallId), KEY),
    riskClass: "CRITICAL_MUTATION",
    dataClass: "internal",
    owner: "test",
    expiresAt: "2026-11-21T10:00:00.000Z",
    compensation: { reversible: false, tool: null, note: "It cannot be undone." },
    rejectionPath:
      "The tool does not run. A model that asked for it is told, and may go on without it.",
    traceId: RUN_ID,
  });
});

test("a description names what people see of the target, and gets nothing else", async () => {
  const change = {
    describe: (_args: typeof ARGS, before: JsonObject | null) => ({
      action: `Refund ${JSON.stringify(before)}`,
      consequence: "Ann gets her money.",
    }),
    redaction: { ...base.redaction, state: ["order"] },
  };
  const preview = () => Promise.resolve({ before: { order: "Boots", secret: "s" }, after: null });
  const titles = await Promise.all(
    [
      { ...change, preview },
      { ...change, preview: () => Promise.reject(new Error("down")) },
    ].map(async (made) => (await packetOf(made)).actionName.title),
  );
  expect(titles).toEqual(['Refund {"order":"Boots"}', "Refund null"]);
});

test("a packet never contains the idempotency key", async () => {
  expect(JSON.stringify(await packetOf())).not.toContain(KEY);
});

describe("a contract without a usable description", () => {
  const GENERIC = /^It acts on people or systems outside/;
  test.each([
    ["has no `describe`", undefined],
    [
      "throws",
      () => {
        throw new Error("canary-1");
      },
    ],
    ["returns nothing", () => undefined],
    ["returns blanks", () => ({ action: " ", consequence: "\n" })],
    ["returns other types", () => ({ action: 5, consequence: { toString: () => "x" } })],
    ["returns a promise", () => Promise.resolve({ action: "a", consequence: "b" })],
    [
      "returns an object that throws when read",
      () =>
        Object.defineProperty({}, "action", {
          get: () => {
            throw new Error("canary-1");
          },
        }),
    ],
  ])("gets the general text when it %s", async (_what, words) => {
    const packet = await packetOf(words && { describe: words });
    expect(packet.actionName.title).toBe("test__refund");
    expect(packet.consequence).toMatch(GENERIC);
    expect(JSON.stringify(packet)).not.toContain("canary");
  });
});

test("long texts are cut between characters, with the exact number of hidden characters", async () => {
  const describeIt = () => ({ action: `${"x".repeat(119)}😀😀`, consequence: "y".repeat(3_000) });
  const { actionName, consequence } = await packetOf({ describe: describeIt });
  expect(actionName.title).toBe(`${"x".repeat(119)}… (4 more characters are not shown)`);
  expect(consequence).toBe(`${"y".repeat(1_000)}… (2000 more characters are not shown)`);
});

describe("a preview", () => {
  const withPreview = (preview: unknown, change: object = {}) =>
    packetOf({ redaction: { ...base.redaction, state: ["status", "rows"] }, preview, ...change });
  const cycle: Record<string, unknown> = {};
  cycle["status"] = cycle;

  test.each([
    ["that never answers", () => new Promise(() => undefined)],
    [
      "that throws",
      () => {
        throw new Error("canary-2");
      },
    ],
    ["that fails", () => Promise.reject(new Error("canary-2"))],
    ["that returns nothing", () => Promise.resolve(undefined)],
    ["that returns texts", () => Promise.resolve({ before: "paid", after: ["x"] })],
    ["that returns a cycle", () => Promise.resolve({ before: cycle, after: cycle })],
    [
      "that returns too much",
      () => Promise.resolve({ before: { status: "x".repeat(40_000) }, after: null }),
    ],
  ])("%s leaves the states unknown and does not prevent the packet", async (_what, preview) => {
    const packet = await withPreview(preview);
    expect(packet).toMatchObject({ beforeState: null, afterState: null });
    expect(JSON.stringify(packet)).not.toContain("canary");
    const shown = formatPacketLines(packet).filter(({ field }) => field.endsWith("State"));
    expect(shown.map(({ text }) => text)).toEqual(["not known", "not known"]);
  });

  test("has five seconds, or less when the tool or the policy says so", async () => {
    const late = (ms: number) => (_args: unknown, _context: unknown, caps: { clock: FakeClock }) =>
      new Promise((resolve) => {
        caps.clock.schedule(ms, () => resolve({ before: { status: "there" }, after: null }));
      });
    expect((await withPreview(late(3_000))).beforeState).toEqual({ status: "there" });
    expect((await withPreview(late(6_000))).beforeState).toBe(null);
    const slow = await withPreview(late(3_000), { runtime: { timeoutMs: 1_000 } });
    expect(slow.beforeState).toBe(null);
  });

  test("shows only the fields that its contract lists", async () => {
    const state = { status: "paid", token: "t0ken", rows: [1] };
    const packet = await withPreview(() => Promise.resolve({ before: state, after: state }));
    expect(packet.beforeState).toEqual({ status: "paid", rows: [1] });
    expect(JSON.stringify(packet)).not.toContain("t0ken");
  });

  test("gets only capabilities that cannot act", async () => {
    const seen: unknown[] = [];
    await withPreview((args: unknown, context: unknown, capabilities: object) => {
      seen.push(args, context, Object.keys(capabilities).toSorted());
      return Promise.resolve({ before: null, after: null });
    });
    expect(seen).toEqual([
      ARGS,
      expect.objectContaining({ runId: RUN_ID }),
      ["clock", "idempotencyKey", "signal"],
    ]);
  });

  test("may send HTTP reads and cannot send writes", async () => {
    const answers: unknown[] = [];
    await withPreview(
      async (_args: unknown, _context: unknown, { http }: { http: HttpClient }) => {
        for (const method of ["GET", "POST"] as const) {
          const answer = await http.send({ method, url: "https://pay.test/refunds" });
          answers.push(answer.ok ? answer.value.status : answer.failure.errors[0]?.code);
        }
        return { before: null, after: null };
      },
      {
        capabilities: ["http"],
        security: { egressPolicy: "allowlisted_domains", egressHosts: ["pay.test"] },
      },
    );
    expect(answers).toEqual([200, "http_refused"]);
  });
});

/** A run in which the tool test__other is registered, and policy allows these tools. */
function portsAllowing(...allowedTools: string[]): UndoPorts {
  const other = defineTool({ ...base, name: "test__other" });
  const tools = bindTools(registerContracts([other]), fakeRunCapabilities());
  const policy = policyOf({ allowedTools });
  return { clock: new FakeClock(), policy, tools, versions: newestOf(tools) };
}

describe("the compensation", () => {
  test.each([
    [{ semantics: "irreversible_pivot" }, false, "It cannot be undone."],
    [
      { semantics: "compensable_write", compensationTool: "test__other" },
      true,
      "test__other can undo it.",
    ],
    [
      { semantics: "saga_step", compensationTool: "test__other" },
      true,
      "test__other can undo it. It is one step of several, and is undone when a later one fails.",
    ],
  ])("of %j", (transactional, reversible, note) => {
    const { compensationTool = null, semantics } = transactional as {
      compensationTool?: string;
      semantics: "saga_step";
    };
    const compensation = { semantics, tool: compensationTool };
    expect(describeCompensation(portsAllowing("test__other"), compensation)).toMatchObject({
      reversible,
      note,
    });
  });

  test("of a call whose tool to undo it the policy denies says that nothing undoes it", () => {
    const compensation = { semantics: "compensable_write", tool: "test__other" } as const;
    expect(describeCompensation(portsAllowing(), compensation)).toMatchObject({
      reversible: false,
      note: "test__other would undo it, but the policy does not allow that tool.",
    });
  });
});
