import type { Log } from "../../src/capabilities/log.ts";
import * as v from "valibot";
import { createHttpEgress } from "../../src/adapters/egress/http-egress.ts";
import { systemClock } from "../../src/adapters/platform/system.ts";
import type { RunJournal } from "../../src/capabilities/run-journal.ts";
import type { Reservation } from "../../src/capabilities/budget.ts";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import { routeVersions } from "../../src/contracts/catalog/route-versions.ts";
import { registerContracts } from "../../src/contracts/check/register.ts";
import { bindTools } from "../../src/contracts/bind/tool-source.ts";
import type { AiEvent } from "../../src/protocol/run/event.ts";
import {
  type ActorId,
  type RunId,
  type TenantId,
  type ToolCallId,
  MAX_CONTRACT_BYTES,
} from "../../src/protocol/identity/ids.ts";
import { fail, ok } from "../../src/protocol/outcome/result.ts";
import type { ToolInvocationRecord } from "../../src/protocol/invocation/record.ts";
import { NO_FACTS } from "../../src/protocol/run/facts.ts";
import { parseToolPolicy, type ToolPolicy } from "../../src/protocol/policy/document.ts";
import { ConversationImages } from "../../src/loop/history/conversation-images.ts";
import type { ApprovalDesk } from "../../src/capabilities/approval.ts";
import type { ToolRunnerPorts } from "../../src/runner/ports.ts";
import { createFlow } from "../../src/runner/flow/evidence.ts";
import { NO_USED_NAMES } from "../../src/testing/memory/no-used-names.ts";
import { InvocationLedger } from "../../src/runner/invocation/invocation-ledger.ts";
import { RunBudget } from "../../src/runner/budget/of-run.ts";
import { createToolRunner } from "../../src/runner/tool-runner.ts";
import { DESCRIPTION, ORDER, orderInput } from "./order-tool.ts";

const askNobody = (): never => {
  throw new Error("no call of this bench needs an approval");
};

const NO_APPROVALS: ApprovalDesk = {
  newest: () => undefined,
  raises: () => [],
  wasRejected: () => false,
  countOpen: () => 0,
  countAsked: () => 0,
  withdraw: () => {},
  nextId: askNobody,
  ask: askNobody,
  consume: askNobody,
  takeAnswer: () => {},
};

/** Makes one tool call with these arguments. Resolves when the call has ended. */
export type MakeCall = (argumentsText: string) => Promise<void>;

const common = {
  version: "1.0.0",
  description: DESCRIPTION,
  input: orderInput,
  output: v.strictObject({ orderId: v.string(), status: v.picklist(["placed", "refused"]) }),
  redaction: {
    args: ["customer", "channel", "priority", "items.*.sku", "items.*.quantity"],
    output: ["orderId", "status"],
  },
  capabilities: [],
  runtime: { maxArgumentsBytes: MAX_CONTRACT_BYTES },
  security: { requiredScopes: ["orders:write"], untrustedOutput: true },
  execute: () => ok(ORDER),
} as const;

const CONTRACTS = [
  defineTool({
    ...common,
    name: "orders__check",
    sideEffectClass: "READ_ONLY",
    effect: "read_only",
  }),
  defineTool({
    ...common,
    name: "orders__place",
    sideEffectClass: "LOW_RISK_INTERNAL",
    effect: "state_change",
  }),
] as const;

/** The tools that differ in nothing but their effect. */
export type OrderTool = (typeof CONTRACTS)[number]["name"];

/**
 * Starts a run whose calls pass all gates: an allowlist, argument rules, scopes, budgets, and for a
 * mutation a ledger in memory. There are no hooks and no connections. Nothing leaves memory, so the
 * figures contain no storage.
 */
export function startRun(name: OrderTool): MakeCall {
  const runner = createToolRunner(makePorts());
  const { signal } = new AbortController();
  const who = { runId: "run_bench" as RunId, tenantId: TENANT, actorId: ACTOR };
  let step = 0;
  return async (argumentsText) => {
    const toolCallId = `call_${++step}` as ToolCallId;
    const call = { toolCallId, name, argumentsText, truncated: false };
    const result = await runner.exec(call, { ...who, toolCallId, step, part: 0 }, signal);
    if (result === "waiting" || !result.ok) throw new Error(JSON.stringify(result));
  };
}

const TENANT = "bench" as TenantId;
const ACTOR = "user:bench" as ActorId;
const POLICY = readPolicy({
  allowedTools: ["core__get_current_time", "orders__check", "orders__place"],
  argumentRules: CONTRACTS.flatMap(({ name }) => [
    { tool: name, field: "/channel", must: { beOneOf: ["web", "phone"] } },
    { tool: name, field: "/items/*/quantity", must: { beAtMost: 100 } },
  ]),
  budgets: { maxReads: 1_000, maxWrites: 1_000, maxCost: 10 },
  tenantBudgets: { maxWrites: 10_000 },
});

function readPolicy(document: object): ToolPolicy {
  const policy = parseToolPolicy(document);
  if (!policy) throw new Error("the policy is not valid");
  return policy;
}

const RUN_ID = "run_bench" as RunId;

function makePorts(): ToolRunnerPorts {
  const runTitle = { set: () => {} };
  const tools = bindTools(registerContracts(CONTRACTS), {
    clock: systemClock,
    runTitle,
    egress: createHttpEgress({
      clock: systemClock,
      fetch: () => Promise.reject(new Error("offline")),
      addresses: new Map(),
    }),
  });
  const pin = { revision: 1, hash: "sha256:bench" };
  const reserved = new Map<string, Reservation>();
  const events: AiEvent[] = [];
  const records = new Map<number, ToolInvocationRecord>();
  const journal: RunJournal = {
    append: (added) => void events.push(...added),
    keepContext: () => {},
    keepFile: () => {},
    remember: () => {},
    record: (record) => void records.set(record.number, record),
    note: () => {},
    audit: () => {},
    storedFacts: NO_FACTS,
    flush: () => {},
    secure: () => Promise.resolve(),
  };
  const invocations = new InvocationLedger(journal, []);
  return {
    tools,
    invocations,
    usedNames: NO_USED_NAMES,
    flow: createFlow(invocations, () => [], NO_APPROVALS),
    nextPart: () => 0,
    workflowId: RUN_ID,
    registry: { current: () => Promise.resolve(pin) },
    approvals: NO_APPROVALS,
    images: new ConversationImages(
      { shelf: { load: async () => new Map() }, journal, runId: RUN_ID },
      [],
    ),
    places: { take: () => Promise.resolve("taken") },
    approvalSigner: { sign: () => Promise.resolve(""), read: () => Promise.resolve(undefined) },
    fingerprints: { of: (_run, value) => Promise.resolve(value) },
    outcomeWaitMs: 1_000,
    undoWaitMs: 1_000,
    endsAtMs: () => Number.POSITIVE_INFINITY,
    versions: routeVersions(tools.listToolSpecs(), POLICY, { nowMs: systemClock.nowMs() }),
    policy: POLICY,
    pin,
    policies: {
      load: () => Promise.resolve({ policy: POLICY, pin }),
      learn: () => {},
      read: () => Promise.resolve({ policy: POLICY, pin }),
    },
    principal: { tenantId: TENANT, actorId: ACTOR, roles: [], scopes: ["chat", "orders:write"] },
    caller: { actorId: ACTOR, roles: [], models: [] },
    connectionIds: [],
    authorizationOf: () => ({
      check: async ({ scopes, requiredScopes }) =>
        requiredScopes.every((scope) => scopes.includes(scope)) ? "allow" : "no_permission",
    }),
    broker: { bind: () => Promise.resolve(fail({ code: "unknown_connection" })) },
    ledger: {
      reserve(reservation) {
        reserved.set(reservation.id, reservation);
        return Promise.resolve({ kind: "reserved" });
      },
      peek: () => Promise.resolve({ kind: "reserved" }),
      settle: () => Promise.resolve(),
      release: () => Promise.resolve(),
    },
    budget: new RunBudget({ policy: POLICY }),
    hooks: [],
    log: NO_LOG,
    inbox: { hasSteering: false },
    journal,
    clock: systemClock,
    random: { fraction: () => 0 },
  };
}

const NO_LOG: Log = { write: () => {}, fault: () => "err_bench", about: () => NO_LOG };
