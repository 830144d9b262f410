import type { ToolCapabilities } from "../capabilities/tool.ts";
import { httpErrorsOf } from "../protocol/outcome/http-failure.ts";
import { MAX_TOOL_ARGUMENTS_BYTES, MAX_TOOL_RESULT_BYTES } from "../protocol/identity/ids.ts";
import type { SideEffectClass } from "../protocol/tool/effect.ts";
import { ContractError } from "./error.ts";
import type {
  ClosedObjectSchema,
  IdempotencySection,
  ToolContract,
  ToolDefinition,
  TransactionalSection,
} from "./definition.ts";

/** What a class asks for where its author says nothing (seeds/004, "Side-Effect Classification Model"). */
interface ClassDefaults {
  readonly transactional: TransactionalSection;
  readonly idempotency: IdempotencySection;
  readonly auditRequired: boolean;
  readonly maxRetries: number;
}

const DAY_SECONDS = 86_400;

const read: ClassDefaults = {
  transactional: {
    confirmationRequired: false,
    semantics: "read_only",
    compensationTool: null,
    verificationRequired: false,
  },
  idempotency: {
    supported: true,
    required: false,
    keyHeader: null,
    ttlSeconds: null,
    payloadHashRequired: false,
  },
  auditRequired: false,
  maxRetries: 2,
};

/** A write is taken for one that may not be repeated until its author says that it may. */
const write: ClassDefaults = {
  transactional: { ...read.transactional, semantics: "compensable_write" },
  idempotency: {
    supported: false,
    required: true,
    keyHeader: null,
    ttlSeconds: DAY_SECONDS,
    payloadHashRequired: true,
  },
  auditRequired: true,
  maxRetries: 0,
};

const confirmed: ClassDefaults = {
  ...write,
  transactional: { ...write.transactional, confirmationRequired: true, verificationRequired: true },
};

const DEFAULTS: { readonly [Class in SideEffectClass]: ClassDefaults } = {
  READ_ONLY: read,
  EPHEMERAL_WRITE: {
    ...write,
    idempotency: { ...write.idempotency, required: false },
    auditRequired: false,
  },
  LOW_RISK_INTERNAL: write,
  MEDIUM_RISK_WRITE: write,
  HIGH_RISK_EXTERNAL: confirmed,
  CRITICAL_MUTATION: confirmed,
};

/**
 * Fills in every section that a definition leaves out, by its side-effect class.
 * Contract: pure; what the author wrote stays as it is.
 * Fails: throws ContractError for a class that there is not.
 */
export function resolveDefaults<
  In extends ClosedObjectSchema,
  Out extends ClosedObjectSchema,
  Needs extends keyof ToolCapabilities,
>(definition: ToolDefinition<In, Out, Needs>): ToolContract<In, Out, Needs> {
  const { sideEffectClass } = definition;
  if (!Object.hasOwn(DEFAULTS, sideEffectClass)) {
    throw new ContractError(definition.name, `there is no side-effect class ${sideEffectClass}`);
  }
  const defaults = DEFAULTS[sideEffectClass];
  const isRead = sideEffectClass === "READ_ONLY";
  const egressPolicy = definition.security?.egressPolicy ?? "none";
  // An author out of the compiler's reach may have left them out, which registration refuses.
  const named = definition.capabilities as readonly string[] | undefined;
  const usesHttp = named?.includes("http") === true;
  return {
    ...definition,
    owner: definition.owner ?? definition.name.split("__", 1)[0] ?? definition.name,
    lifecycle: definition.lifecycle ?? { status: "active", sunsetDate: null, replacement: null },
    allowedUseCases: definition.allowedUseCases ?? [],
    forbiddenUseCases: definition.forbiddenUseCases ?? [],
    examples: definition.examples ?? [],
    errors: { ...(usesHttp && httpErrorsOf(definition.effect)), ...definition.errors },
    parallel: definition.parallel ?? isRead,
    requiresConnection: definition.requiresConnection ?? false,
    progressStages: definition.progressStages ?? [],
    rules: definition.rules ?? [],
    runtime: {
      timeoutMs: 10_000,
      rateLimit: { windowSeconds: 60, maxRequests: 60 },
      cost: { currency: "USD", perCall: 0, unit: "call" },
      sandboxIsolated: false,
      maxRetries: defaults.maxRetries,
      maxArgumentsBytes: MAX_TOOL_ARGUMENTS_BYTES,
      maxResultBytes: MAX_TOOL_RESULT_BYTES,
      ...definition.runtime,
    },
    security: {
      requiredScopes: [],
      tenantScoped: true,
      secretsBoundary: definition.requiresConnection === true ? "gateway_injected" : "none",
      dataClassification: "internal",
      egressPolicy,
      egressHosts: [],
      untrustedOutput: egressPolicy !== "none",
      ...definition.security,
    },
    transactional: { ...defaults.transactional, ...definition.transactional },
    idempotency: { ...defaults.idempotency, ...definition.idempotency },
    observability: {
      traceAttributes: [],
      auditRequired: defaults.auditRequired,
      ...definition.observability,
    },
  };
}
