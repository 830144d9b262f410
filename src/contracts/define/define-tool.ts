import type { ToolCapabilities } from "../../capabilities/tool.ts";
import { MAX_TOOL_ARGUMENTS_BYTES, MAX_TOOL_RESULT_BYTES } from "../../protocol/identity/ids.ts";
import { httpErrorsOf } from "../../protocol/outcome/http-failure.ts";
import { SIDE_EFFECT_CLASSES } from "../../protocol/tool/effect.ts";
import { sealCode } from "./author-code.ts";
import { CLASS_DEFAULTS } from "./class-defaults.ts";
import type { ClosedObjectSchema, ToolContract, ToolDefinition } from "./definition.ts";
import { ContractError } from "./contract-error.ts";
import type { TransactionalSection } from "./sections.ts";

/**
 * Declares a tool. Fills in every section that the definition leaves out, by its side-effect class.
 * TypeScript infers the types of `execute` from the schemas and the capabilities.
 * Contract: pure; it changes nothing that the author wrote.
 * Fails: throws ContractError for an unknown side-effect class.
 */
export function defineTool<
  const In extends ClosedObjectSchema,
  const Out extends ClosedObjectSchema,
  const Needs extends keyof ToolCapabilities = never,
>(definition: ToolDefinition<In, Out, Needs>): ToolContract<In, Out, Needs> {
  const { sideEffectClass } = definition;
  if (!Object.hasOwn(CLASS_DEFAULTS, sideEffectClass)) {
    const classes = SIDE_EFFECT_CLASSES.join(", ");
    const reason = `there is no side-effect class ${sideEffectClass}; use one of ${classes}`;
    throw new ContractError(definition.name, reason);
  }
  // oxlint-disable-next-line no-unused-vars, typescript/unbound-method -- they are left out of data
  const { execute, checkState, preview, reconcile, verify, ...data } = definition;
  const defaults = CLASS_DEFAULTS[sideEffectClass];
  const isRead = sideEffectClass === "READ_ONLY";
  const keepsData = definition.workspace !== undefined;
  const egressPolicy = definition.security?.egressPolicy ?? "none";
  // Without the compiler an author may leave the capabilities out. Registration refuses that later.
  const named = definition.capabilities as readonly string[] | undefined;
  const usesHttp = named?.includes("http") === true;
  return {
    ...data,
    code: sealCode(definition),
    owner: definition.owner ?? definition.name.split("__", 1)[0] ?? definition.name,
    lifecycle: definition.lifecycle ?? { status: "active", sunsetDate: null, replacement: null },
    allowedUseCases: definition.allowedUseCases ?? [],
    forbiddenUseCases: definition.forbiddenUseCases ?? [],
    examples: definition.examples ?? [],
    errors: { ...(usesHttp && httpErrorsOf(definition.effect)), ...definition.errors },
    parallel: definition.parallel ?? isRead,
    shownToModel: definition.shownToModel ?? true,
    requiresConnection: definition.requiresConnection ?? false,
    progressStages: definition.progressStages ?? [],
    rules: definition.rules ?? [],
    content: { maxImages: 0, maxImageBytes: 1024 * 1024, maxTextBytes: 0, ...definition.content },
    runtime: {
      timeoutMs: 10_000,
      rateLimit: { windowSeconds: 60, maxRequests: 60 },
      cost: { currency: "USD", perCall: 0, unit: "call" },
      sandboxIsolated: false,
      maxRetries: keepsData ? 2 : defaults.maxRetries,
      retryForMs: keepsData && !isRead ? 60_000 : 0,
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
      upstreams: [],
      untrustedOutput: egressPolicy !== "none",
      ...definition.security,
    },
    transactional: fillTransactional(
      { ...defaults.transactional, ...(verify && { verificationRequired: true }) },
      definition.transactional,
    ),
    idempotency: {
      ...defaults.idempotency,
      ...(keepsData && { supported: true }),
      ...definition.idempotency,
    },
    observability: {
      traceAttributes: [],
      ...definition.observability,
    },
  };
}

/** A write that names a tool to undo it can be undone by it. */
function fillTransactional(
  defaults: TransactionalSection,
  given: Partial<TransactionalSection> = {},
): TransactionalSection {
  const { compensationTool = null } = given;
  const undoable = compensationTool === null ? {} : { semantics: "compensable_write" as const };
  return { ...defaults, ...undoable, ...given };
}
