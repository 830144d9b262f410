import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import type { BoundToolRuntime, ToolCapabilities } from "../capabilities/tool-source.ts";
import { MAX_TOOL_ARGUMENTS_BYTES, MAX_TOOL_RESULT_BYTES, type ToolId } from "../protocol/ids.ts";
import type { JsonObject } from "../protocol/json.ts";
import { fail, ok } from "../protocol/result.ts";
import type { JsonSchema7, ToolSpec } from "../protocol/tool-spec.ts";
import { checkContract, ContractError } from "./check-contract.ts";
import type { ClosedObjectSchema, ToolContract } from "./define-tool.ts";
import { compileAllowlist, redact } from "./redact.ts";
import { sortIssues } from "./sort-issues.ts";

const DEFAULT_TIMEOUT_MS = 10_000;

/** Any contract, whatever its schemas: `execute` takes what its own schema let through. */
export type AnyToolContract = Omit<ToolContract, "execute"> & {
  execute(args: never, context: never, capabilities: never): unknown;
};

/**
 * Binds a contract to capabilities.
 * Fails: throws ContractError when the contract may not be registered; see toToolSpec.
 */
export function bindTool(
  contract: AnyToolContract,
  capabilities: ToolCapabilities,
): BoundToolRuntime {
  const spec = toToolSpec(contract);
  const argsAllowlist = compileAllowlist(contract.redaction.args);
  const outputAllowlist = compileAllowlist(contract.redaction.output);
  const executable = contract as ToolContract;
  return {
    id: spec.name,
    version: contract.version,
    spec,
    effect: contract.effect,
    timeoutMs: contract.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    ...limitsOf(contract),
    validateInput: (args) => parseWith(contract.input, args),
    exec: async (args, context, signal) =>
      executable.execute(args, context, grant(capabilities, contract.capabilities, signal)),
    validateOutput: (output) => parseWith(contract.output, output),
    redactArgs: (args) => redact(args, argsAllowlist),
    redactOutput: (output) => redact(output, outputAllowlist),
  };
}

/** Contracts never change, and every run binds them anew. */
const derived = new WeakMap<AnyToolContract, ToolSpec>();

/**
 * Derives what the model sees of a contract, after checking all of it: deriving the spec is
 * registering (seeds/000 #14, #26a). The schema comes from valibot alone.
 * Contract: a contract is checked once.
 * Fails: throws ContractError with the tool's name and the reason.
 */
export function toToolSpec(contract: AnyToolContract): ToolSpec {
  const known = derived.get(contract);
  if (known) return known;
  const spec = deriveSpec(contract);
  derived.set(contract, spec);
  return spec;
}

function deriveSpec(contract: AnyToolContract): ToolSpec {
  const { redaction } = contract as Partial<AnyToolContract>;
  if (!redaction || !Array.isArray(redaction.args) || !Array.isArray(redaction.output)) {
    throw new ContractError(`Tool ${JSON.stringify(contract.name)}: redaction is missing`);
  }
  const spec: ToolSpec = {
    name: contract.name as ToolId,
    version: contract.version,
    description: contract.description,
    inputSchema: toSchema(contract, contract.input),
    effect: contract.effect,
    redaction,
  };
  checkContract({ spec, outputSchema: toSchema(contract, contract.output), ...limitsOf(contract) });
  return spec;
}

function limitsOf(
  contract: AnyToolContract,
): Pick<BoundToolRuntime, "maxArgumentsBytes" | "maxResultBytes"> {
  return {
    maxArgumentsBytes: contract.maxArgumentsBytes ?? MAX_TOOL_ARGUMENTS_BYTES,
    maxResultBytes: contract.maxResultBytes ?? MAX_TOOL_RESULT_BYTES,
  };
}

function toSchema(contract: AnyToolContract, schema: ClosedObjectSchema): JsonSchema7 {
  if (schema.type !== "strict_object") {
    throw new ContractError(`Tool ${JSON.stringify(contract.name)}: schemas must be strictObject`);
  }
  try {
    const { $schema: _, ...rest } = toJsonSchema(schema, { target: "draft-07" });
    return rest as JsonSchema7;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ContractError(`Tool ${JSON.stringify(contract.name)}: ${reason}`, { cause });
  }
}

function parseWith(
  schema: ClosedObjectSchema,
  value: unknown,
): ReturnType<BoundToolRuntime["validateInput"]> {
  const parsed = v.safeParse(schema, value);
  return parsed.success ? ok(parsed.output as JsonObject) : fail(sortIssues(parsed.issues));
}

/**
 * Hands over what the contract names and nothing else, for as long as the invocation lasts: a tool
 * that was left behind must not act any more.
 */
function grant(
  capabilities: ToolCapabilities,
  names: readonly (keyof ToolCapabilities)[],
  signal: AbortSignal,
): Granted {
  const named = names.map((name) => [name, untilAborted(capabilities[name], signal)] as const);
  const granted: Partial<ToolCapabilities> = Object.fromEntries(named);
  return { ...granted, signal } as Granted;
}

/** What the type of `execute` promises its author: the named capabilities, and the signal. */
type Granted = ToolCapabilities & { readonly signal: AbortSignal };

function untilAborted<T extends object>(capability: T, signal: AbortSignal): T {
  return new Proxy(capability, {
    get(target, key) {
      const member = Reflect.get(target, key) as unknown;
      if (typeof member !== "function") return member;
      return (...args: unknown[]): unknown => {
        if (signal.aborted) throw new Error("the invocation is over");
        return Reflect.apply(member, target, args) as unknown;
      };
    },
  });
}
