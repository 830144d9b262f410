import * as v from "valibot";
import type { ToolCapabilities } from "../../capabilities/tool.ts";
import { isEgressHost } from "../../protocol/connection/egress-host.ts";
import { MAX_MESSAGE_FILE_BYTES } from "../../protocol/conversation/sent-file.ts";
import { MAX_CONTRACT_BYTES } from "../../protocol/identity/ids.ts";
import { isJsonObject } from "../../protocol/json/value.ts";
import { SIDE_EFFECT_CLASSES, TOOL_EFFECTS } from "../../protocol/tool/effect.ts";
import { TAXONOMY_CLASSES, type FailureClass } from "../../protocol/outcome/taxonomy.ts";
import {
  COST_UNITS,
  EGRESS_POLICIES,
  SECRETS_BOUNDARIES,
  SEMANTICS,
} from "../../protocol/tool/contract-document.ts";
import { DATA_CLASSIFICATIONS } from "../../protocol/tool/data-class.ts";
import { LIFECYCLE_STATUSES } from "../../protocol/tool/lifecycle.ts";
import { toVisible } from "../../protocol/text/visible.ts";
import { revealCode } from "../define/author-code.ts";
import type { AnyToolContract } from "../define/definition.ts";

/**
 * Tells which field of a contract holds a wrong value; undefined when every field is right by
 * itself. consistency.ts then checks how the fields fit together.
 */
export function checkShape(contract: AnyToolContract): string | undefined {
  const parsed = v.safeParse(contractShape, contract, { abortEarly: true });
  if (!parsed.success) return formatIssue(parsed.issues[0]);
  const code = v.safeParse(codeShape, revealCode(contract), { abortEarly: true });
  return code.success ? undefined : formatIssue(code.issues[0]);
}

/** Writes a valibot issue with its place. Its text may show the value: it is the author's own. */
export function formatIssue(issue: v.BaseIssue<unknown>): string {
  return `${v.getDotPath(issue) ?? "contract"}: ${issue.message}`;
}

/** Every capability. The compiler reports one that is missing here. */
const CAPABILITIES: { readonly [Name in keyof ToolCapabilities]: true } = {
  clock: true,
  runTitle: true,
  results: true,
  auth: true,
  progress: true,
  http: true,
  workspace: true,
};

const NAME = /^(?=.{1,64}$)[a-zA-Z0-9-]+(?:_[a-zA-Z0-9-]+)*__[a-zA-Z0-9_-]+$/;
const VERSION = /^(?:0|[1-9]\d{0,8})(?:\.(?:0|[1-9]\d{0,8})){2}$/;
const CURRENCY = /^[A-Z]{3}$/;
const HEADER = /^[A-Za-z0-9-]{1,64}$/;

/** Text for people and models. */
const text = v.pipe(
  v.string(),
  v.regex(/\S/, "must not be empty"),
  v.maxLength(1024, "must have at most 1024 characters"),
);
/** Threat: a title that looks like another one, or like more than a title. */
const title = v.pipe(
  v.string(),
  v.regex(/^\S(?:.{0,62}\S)?$/u, "must be 1 to 64 characters in one line, without outer spaces"),
  v.check((value) => toVisible(value).notes.length === 0, "must hold no hidden characters"),
);
const texts = v.pipe(v.array(text), v.maxLength(32));
/** Identifier for machines: a code, a scope, a stage. */
const word = v.pipe(v.string(), v.regex(/^[\w.:/-]{1,64}$/, "must be 1 to 64 of [a-zA-Z0-9_.:/-]"));
const words = v.pipe(v.array(word), v.maxLength(32));
const toolId = v.pipe(
  v.string(),
  v.regex(NAME, "must be <namespace>__<tool> of [a-zA-Z0-9_-], at most 64 characters"),
);
const host = v.pipe(
  v.string(),
  v.check(isEgressHost, "must be host or host:port, in lower case, as a URL shows it"),
);
const upstream = v.pipe(
  v.string(),
  v.regex(/^[a-z][a-z0-9-]{0,31}$/, "must be a name of [a-z0-9-], not an address"),
);
const paths = v.array(v.string());
const bytes = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(1),
  v.maxValue(MAX_CONTRACT_BYTES, `must be at most ${MAX_CONTRACT_BYTES}`),
);
const upTo = (most: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(most, `must be at most ${most}`));
const positive = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const optionalFunction = v.optional(v.function());
const failureClass = v.picklist(
  TAXONOMY_CLASSES.filter(
    (taxonomyClass): taxonomyClass is FailureClass =>
      taxonomyClass !== "SUCCESS" && taxonomyClass !== "PARTIAL_SUCCESS",
  ),
);

const lifecycle = v.strictObject({
  status: v.picklist(LIFECYCLE_STATUSES),
  sunsetDate: v.nullable(
    v.pipe(v.string(), v.check(isDay, "must be a day that exists, YYYY-MM-DD")),
  ),
  replacement: v.nullable(
    v.pipe(v.string(), v.check(isReplacement, "must be a tool's name, or <name>@<version>")),
  ),
});

/** As long as an approval may wait. */
const MAX_TTL_SECONDS = 30 * 86_400;

const contractShape = v.strictObject({
  name: toolId,
  version: v.pipe(v.string(), v.regex(VERSION, "must be three numbers, 1.0.0")),
  title: v.optional(title),
  category: v.optional(word),
  description: text,
  input: v.unknown(),
  output: v.unknown(),
  sideEffectClass: v.picklist(SIDE_EFFECT_CLASSES),
  effect: v.picklist(TOOL_EFFECTS),
  details: v.optional(v.unknown()),
  redaction: v.strictObject({
    args: paths,
    output: paths,
    state: v.optional(paths),
    details: v.optional(paths),
  }),
  capabilities: v.array(v.picklist(Object.keys(CAPABILITIES))),
  owner: text,
  lifecycle,
  allowedUseCases: texts,
  forbiddenUseCases: texts,
  examples: v.array(
    v.strictObject({
      description: text,
      arguments: v.custom(isJsonObject, "must be a JSON object"),
    }),
  ),
  runtime: v.strictObject({
    timeoutMs: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(300_000)),
    rateLimit: v.strictObject({ windowSeconds: positive, maxRequests: positive }),
    cost: v.strictObject({
      currency: v.pipe(v.string(), v.regex(CURRENCY, "must be three letters, ISO 4217")),
      perCall: v.pipe(v.number(), v.finite(), v.minValue(0)),
      unit: v.picklist(COST_UNITS),
    }),
    sandboxIsolated: v.boolean(),
    maxRetries: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(10)),
    retryForMs: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(3_600_000)),
    maxArgumentsBytes: bytes,
    maxResultBytes: bytes,
  }),
  security: v.strictObject({
    requiredScopes: words,
    tenantScoped: v.boolean(),
    secretsBoundary: v.picklist(SECRETS_BOUNDARIES),
    dataClassification: v.picklist(DATA_CLASSIFICATIONS),
    egressPolicy: v.picklist(EGRESS_POLICIES),
    egressHosts: v.pipe(v.array(host), v.maxLength(32)),
    upstreams: v.pipe(v.array(upstream), v.maxLength(32)),
    untrustedOutput: v.boolean(),
    discloses: v.optional(v.boolean()),
  }),
  transactional: v.strictObject({
    confirmationRequired: v.boolean(),
    semantics: v.picklist(SEMANTICS),
    compensationTool: v.nullable(toolId),
    verificationRequired: v.boolean(),
  }),
  idempotency: v.strictObject({
    supported: v.boolean(),
    required: v.boolean(),
    keyHeader: v.nullable(v.pipe(v.string(), v.regex(HEADER, "must be a header's name"))),
    ttlSeconds: v.nullable(positive),
  }),
  observability: v.strictObject({ traceAttributes: words }),
  content: v.strictObject({
    maxImages: upTo(16),
    maxImageBytes: upTo(MAX_MESSAGE_FILE_BYTES),
    maxTextBytes: upTo(MAX_CONTRACT_BYTES),
  }),
  errors: v.record(word, failureClass),
  parallel: v.boolean(),
  shownToModel: v.boolean(),
  requiresConnection: v.boolean(),
  workspace: v.optional(upstream),
  amountField: v.optional(v.union([v.string(), v.strictObject({ preview: v.string() })])),
  ask: v.optional(
    v.strictObject({
      form: v.unknown(),
      question: v.function(),
      ttlSeconds: v.optional(
        v.pipe(positive, v.maxValue(MAX_TTL_SECONDS, "must be 30 days at most")),
      ),
    }),
  ),
  mayDrift: v.optional(v.record(v.string(), text)),
  progressStages: words,
  rules: v.array(
    v.strictObject({
      code: word,
      message: text,
      field: v.optional(v.string()),
      counterexample: v.optional(v.custom(isJsonObject, "must be a JSON object")),
      holds: v.function(),
    }),
  ),
  code: v.object({}),
  compensate: optionalFunction,
  describe: optionalFunction,
  saga: v.optional(
    v.strictObject({
      steps: v.pipe(
        v.array(v.strictObject({ tool: toolId, arguments: v.function() })),
        v.minLength(1, "must have a step"),
        v.maxLength(16, "must have at most 16 steps"),
      ),
      result: v.function(),
    }),
  ),
  verification: v.optional(v.strictObject({ delaySeconds: upTo(86_400), expect: v.function() })),
});

const codeShape = v.object({
  checkState: optionalFunction,
  preview: optionalFunction,
  reconcile: optionalFunction,
  execute: optionalFunction,
  verify: optionalFunction,
});

/** Tells whether a text is a real calendar day. JavaScript alone accepts the 31st of February. */
function isDay(day: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) return false;
  const ms = Date.parse(day);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}

function isReplacement(replacement: string): boolean {
  const [name, version, ...rest] = replacement.split("@");
  if (name === undefined || !NAME.test(name) || rest.length > 0) return false;
  return version === undefined || VERSION.test(version);
}
