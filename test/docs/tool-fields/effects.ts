import * as v from "valibot";
import { ok } from "../../../src/protocol/outcome/result.ts";
import { AS_READ } from "../../shared/tools.ts";
import {
  amounts,
  atOnce,
  call,
  compensation,
  contractOf,
  data,
  end,
  granted,
  keyHeaders,
  packetOf,
  read,
  refusalOf,
  register,
  repeats,
  runs,
  second,
  stages,
  timeout,
  told,
  verifies,
  wayBack,
} from "./measures.ts";
import {
  BROKEN,
  CONTENT,
  DETAILS,
  DOWN,
  HANGING,
  HIDDEN,
  KEYED,
  KEYED_FOR_A_SECOND,
  PREVIEW,
  RATES,
  SHOP,
  UNDOABLE,
  VERIFIED,
  answering,
  failing,
} from "./plants.ts";

/** A measure of a tool: what it shows of one with the planted field, and of one without it. */
export interface Effect {
  readonly measure: (change: object) => unknown;
  readonly planted: object;
  readonly shows: unknown;
  readonly otherwise: object;
}

// oxlint-disable-next-line max-params -- a row of a table
const row = (
  measure: Effect["measure"],
  planted: object,
  shows: unknown,
  otherwise: object = {},
): Effect => ({ measure, planted, shows, otherwise });

/** One effect of each field of a tool, by the field's name in docs/tools-authoring.md. */
export const EFFECTS: Readonly<Record<string, Effect>> = {
  name: row(
    async (change) => (await call(change)).record?.name,
    { name: "test__other" },
    "test__other",
  ),
  version: row(
    async (change) => (await call(change)).observation?.tool_identity.version,
    { version: "2.1.0" },
    "2.1.0",
  ),
  title: row(
    async (change) => (await packetOf(change)).actionName.toolTitle,
    { title: "Notes" },
    "Notes",
  ),
  category: row((change) => register(change).spec.category, { category: "notes" }, "notes"),
  description: row(read, { description: "Writes down." }, "Writes down."),
  input: row(end, { input: v.strictObject({ text: v.number() }) }, "STRUCTURAL_VIOLATION"),
  output: row(
    end,
    { output: v.strictObject({ text: v.number() }) },
    "OBSERVATION_NORMALIZATION_FAIL",
  ),
  sideEffectClass: row(amounts, AS_READ, { reads: 1 }),
  effect: row(
    async (change) => (await packetOf(change)).consequence,
    AS_READ,
    "It reads with these arguments and changes nothing. Its contract does not say more.",
  ),
  redaction: row(data, { redaction: { args: [], output: [] } }, {}),
  capabilities: row(granted, { capabilities: ["clock"] }, ["clock", "idempotencyKey", "signal"]),
  execute: row(data, answering(ok({ text: "other" })), { text: "other" }),
  owner: row(
    async (change) => (await packetOf(change)).owner,
    { owner: "the notes team" },
    "the notes team",
  ),
  lifecycle: row(
    async (change) => (await call(change)).observation?.result_payload.warnings,
    { lifecycle: { status: "deprecated", sunsetDate: "2999-01-01", replacement: null } },
    ["this version of the tool is deprecated and ends on 2999-01-01"],
  ),
  allowedUseCases: row(read, { allowedUseCases: ["Lists."] }, "Notes.\nUse for: Lists."),
  forbiddenUseCases: row(read, { forbiddenUseCases: ["Letters."] }, "Notes.\nNot for: Letters."),
  examples: row(
    read,
    { examples: [{ description: "One.", arguments: { text: "a" } }] },
    'Notes.\nExample: One. {"text":"a"}',
  ),
  errors: row(
    end,
    { ...BROKEN, errors: { gone: "PERMISSION_DENIED" } },
    "PERMISSION_DENIED",
    BROKEN,
  ),
  parallel: row(atOnce, { parallel: true }, 2),
  shownToModel: row(end, { shownToModel: false }, "STRUCTURAL_VIOLATION"),
  requiresConnection: row(
    end,
    { requiresConnection: true, capabilities: ["auth"] },
    "PERMISSION_DENIED",
  ),
  workspace: row(end, { workspace: "desk", capabilities: ["workspace"] }, "PERMISSION_DENIED"),
  amountField: row(amounts, { amountField: "/amount" }, { writes: 1, financial: 7_000_000 }),
  progressStages: row(stages, { progressStages: ["packing"] }, ["packing"]),
  content: row(end, { ...CONTENT, content: { maxTextBytes: 99 } }, "SUCCESS", CONTENT),
  details: row(told, DETAILS, { value: { text: "more" } }, {}),
  rules: row(
    end,
    { rules: [{ code: "never", message: "not so", holds: () => false }] },
    "SEMANTIC_INVALIDITY",
  ),
  ask: row(
    end,
    {
      ask: {
        form: v.strictObject({ text: v.string() }),
        question: () => {
          throw new Error("asked");
        },
      },
    },
    "UNKNOWN_ERROR",
  ),
  mayDrift: row(
    async (change) => (await packetOf({ ...PREVIEW, ...change })).drifting,
    { mayDrift: { status: "it decides nothing" } },
    [{ field: "status", reason: "it decides nothing" }],
  ),
  checkState: row(end, { checkState: () => failing("STALE_STATE") }, "STALE_STATE"),
  describe: row(
    async (change) => (await packetOf(change)).actionName.title,
    { describe: () => ({ action: "Note it", consequence: "It is written down." }) },
    "Note it",
  ),
  preview: row(async (change) => (await packetOf(change)).beforeState, PREVIEW, { status: "open" }),
  reconcile: row(
    end,
    { ...DOWN, reconcile: async () => ({ kind: "committed", output: { text: "" } }) },
    "SUCCESS",
    DOWN,
  ),
  verification: row(
    async (change) => (await call(change)).record?.end?.verification?.expected,
    VERIFIED,
    { reference: "r", state: { status: "paid" } },
  ),
  verify: row(verifies, { verify: async () => ({ kind: "mismatch" }) }, { kind: "mismatch" }),
  compensate: row(
    compensation,
    { ...UNDOABLE, compensate: () => ({ text: "back" }) },
    { toolId: "test__undo", version: "1.0.0", args: { text: "back" } },
    UNDOABLE,
  ),
  "runtime.timeoutMs": row(
    timeout,
    { ...HANGING, runtime: { timeoutMs: 50, maxRetries: 0 } },
    "the tool did not answer within 50 ms",
    { ...HANGING, runtime: { maxRetries: 0 } },
  ),
  "runtime.rateLimit": row(
    second,
    { runtime: { rateLimit: { windowSeconds: 60, maxRequests: 1 } } },
    "RATE_LIMITED",
  ),
  "runtime.cost": row(
    amounts,
    { runtime: { cost: { currency: "USD", perCall: 2, unit: "call" } } },
    { writes: 1, cost: 2_000_000 },
  ),
  "runtime.sandboxIsolated": row(
    refusalOf,
    { runtime: { sandboxIsolated: true } },
    "there is no sandbox; leave runtime.sandboxIsolated out",
  ),
  "runtime.maxRetries": row(runs, { ...AS_READ, ...DOWN, runtime: { maxRetries: 1 } }, 2, {
    ...AS_READ,
    ...DOWN,
    runtime: { maxRetries: 0 },
  }),
  "runtime.retryForMs": row(repeats, { ...KEYED, ...DOWN, runtime: { retryForMs: 3_000 } }, true, {
    ...KEYED,
    ...DOWN,
  }),
  "runtime.maxArgumentsBytes": row(end, { runtime: { maxArgumentsBytes: 5 } }, "OUT_OF_BOUNDS"),
  "runtime.maxResultBytes": row(
    end,
    { runtime: { maxResultBytes: 5 } },
    "OBSERVATION_NORMALIZATION_FAIL",
  ),
  "security.requiredScopes": row(
    async (change) => (await call(change)).bench.questions[0]?.requiredScopes,
    { security: { requiredScopes: ["notes:write"] } },
    ["notes:write"],
  ),
  "security.tenantScoped": row(
    refusalOf,
    { workspace: "desk", capabilities: ["workspace"], security: { tenantScoped: false } },
    "workspaces and connections belong to one tenant; leave security.tenantScoped out",
  ),
  "security.secretsBoundary": row(
    refusalOf,
    { security: { secretsBoundary: "execution_sandbox" } },
    "security.secretsBoundary execution_sandbox is not kept: it is none; leave it out",
  ),
  "security.dataClassification": row(
    async (change) => (await packetOf(change)).dataClass,
    { security: { dataClassification: "secret" } },
    "secret",
  ),
  "security.egressPolicy": row(
    refusalOf,
    { security: { egressPolicy: "private_network_only" } },
    "egressPolicy private_network_only is not enforced; use allowlisted_domains or none",
  ),
  "security.upstreams": row(data, SHOP, { text: "refused sent" }, RATES),
  "security.egressHosts": row(data, RATES, { text: "sent refused" }, SHOP),
  "security.untrustedOutput": row(
    data,
    { ...HIDDEN, security: { untrustedOutput: true } },
    { text: "ab" },
    HIDDEN,
  ),
  "security.discloses": row(
    (change) => register(change).discloses,
    { ...AS_READ, security: { discloses: true } },
    true,
    AS_READ,
  ),
  "transactional.confirmationRequired": row(
    end,
    {
      transactional: { confirmationRequired: true },
      describe: () => ({ action: "a", consequence: "b" }),
    },
    "waits",
  ),
  "transactional.semantics": row(wayBack, UNDOABLE, "test__undo can undo it.", KEYED),
  "transactional.compensationTool": row(
    compensation,
    UNDOABLE,
    { toolId: "test__undo", version: "1.0.0", args: { text: "hi" } },
    KEYED,
  ),
  "transactional.verificationRequired": row(
    refusalOf,
    { transactional: { verificationRequired: true } },
    "transactional.verificationRequired needs verify and the section verification; add them",
  ),
  "idempotency.supported": row(runs, { ...DOWN, ...KEYED, runtime: { maxRetries: 1 } }, 2, {
    ...DOWN,
    runtime: { maxRetries: 1 },
  }),
  "idempotency.required": row(
    refusalOf,
    { idempotency: { required: false } },
    "class LOW_RISK_INTERNAL needs idempotency.required; set it to true",
  ),
  "idempotency.keyHeader": row(keyHeaders, { idempotency: { keyHeader: "X-Key" } }, ["x-key"]),
  "idempotency.ttlSeconds": row(
    refusalOf,
    { ...KEYED_FOR_A_SECOND, runtime: { retryForMs: 9_000 } },
    "runtime.retryForMs is longer than idempotency.ttlSeconds; make it shorter",
  ),
  "observability.traceAttributes": row(
    async (change) => (await contractOf(change)).observability.trace_attributes,
    { observability: { traceAttributes: ["text"] } },
    ["text"],
  ),
};
