import { hasCode } from "../define/author-code.ts";
import * as v from "valibot";
import {
  isEffectOf,
  SIDE_EFFECT_CLASSES,
  type SideEffectClass,
} from "../../protocol/tool/effect.ts";
import { isSteeringHeader } from "../../protocol/connection/steering-header.ts";
import { formatModelText, MAX_MODEL_TEXT_CHARS } from "../catalog/registered.ts";
import { checkAsk } from "./check-ask.ts";
import { checkClaims } from "./check-claims.ts";
import { checkDisclosure } from "./check-disclosure.ts";
import { checkNamedFields, type DerivedContract } from "./check-named-fields.ts";
import { checkSchema } from "./check-schema.ts";
import { formatIssue } from "./shape.ts";
import { isCompensable, type Semantics } from "../../protocol/tool/contract-document.ts";
import { fieldNames } from "../../protocol/tool/schema-path.ts";
import type { SemanticRule } from "../define/definition.ts";

/**
 * Tells why the fields of a contract contradict each other; undefined when they agree.
 * Contract: each field alone is right; see shape.ts.
 */
export function checkConsistency(derived: DerivedContract): string | undefined {
  for (const check of CHECKS) {
    const reason = check(derived);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

type Check = (derived: DerivedContract) => string | undefined;

const CHECKS: readonly Check[] = [
  checkWork,
  ({ contract }) => checkClaims(contract),
  checkSchemas,
  checkConnection,
  checkEgress,
  checkDisclosure,
  checkWorkspace,
  checkClass,
  checkConsent,
  checkIdempotency,
  checkRetryTime,
  checkCompensation,
  checkRepetition,
  checkLifecycle,
  checkNamedFields,
  checkApprovable,
  checkAsk,
  checkExamples,
  checkModelText,
  checkCounterexamples,
  checkVerification,
];

function checkWork({ contract }: DerivedContract): string | undefined {
  return hasCode(contract, "execute") === (contract.saga === undefined)
    ? undefined
    : "a contract has either execute or the steps of a saga";
}

function checkSchemas({
  contract,
  inputSchema,
  outputSchema,
}: DerivedContract): string | undefined {
  const { maxArgumentsBytes, maxResultBytes } = contract.runtime;
  const input = checkSchema(inputSchema, maxArgumentsBytes);
  if (input !== undefined) return `input ${input}`;
  const output = checkSchema(outputSchema, maxResultBytes);
  return output === undefined ? undefined : `output ${output}`;
}

/** The model must never choose the connection (seeds/000 #26a). */
function checkConnection({ contract, inputSchema }: DerivedContract): string | undefined {
  const isConnectionId = (name: string): boolean =>
    name.replaceAll(/[^a-zA-Z0-9]/g, "").toLowerCase() === "connectionid";
  if (fieldNames(inputSchema).some(isConnectionId)) {
    return "input must not have a field connectionId; use the capability auth instead";
  }
  if (contract.requiresConnection === contract.capabilities.includes("auth")) return undefined;
  return contract.requiresConnection
    ? 'requiresConnection needs the capability auth; add "auth" to capabilities'
    : "the capability auth needs requiresConnection; set it to true";
}

/** The declared hosts and upstreams must be exactly what the tool can reach. */
function checkEgress({ contract }: DerivedContract): string | undefined {
  const { egressHosts, upstreams, egressPolicy } = contract.security;
  const usesHttp = contract.capabilities.includes("http");
  if (usesHttp !== egressHosts.length + upstreams.length > 0) {
    return "the capability http and security.upstreams or egressHosts need each other";
  }
  if (usesHttp !== (egressPolicy === "allowlisted_domains")) {
    return "the capability http and egressPolicy allowlisted_domains need each other";
  }
  if (!usesHttp) return undefined;
  const key = contract.idempotency.keyHeader?.toLowerCase() ?? KEY_HEADER;
  const isTaken = key === "authorization" || (isSteeringHeader(key) && key !== KEY_HEADER);
  return isTaken
    ? "idempotency.keyHeader has another meaning in HTTP; choose another header name"
    : undefined;
}

const KEY_HEADER = "idempotency-key";

/** A write that the ledger of a workspace makes once may run again under its key. */
function checkWorkspace({ contract }: DerivedContract): string | undefined {
  const { capabilities, workspace, effect, idempotency } = contract;
  if (capabilities.includes("workspace") !== (workspace !== undefined)) {
    return "the capability workspace and the field workspace need each other";
  }
  const isWrite = workspace !== undefined && effect !== "read_only";
  return isWrite && !idempotency.supported
    ? "a write with a workspace is idempotent; leave idempotency.supported out"
    : undefined;
}

function checkClass({ contract }: DerivedContract): string | undefined {
  const { effect, sideEffectClass, transactional } = contract;
  if (sideEffectClass === "EPHEMERAL_WRITE" && contract.capabilities.includes("http")) {
    return "class EPHEMERAL_WRITE changes nothing outside; leave http out, or choose another class";
  }
  if (!isEffectOf(effect, sideEffectClass)) {
    return `effect ${effect} contradicts side-effect class ${sideEffectClass}; change one`;
  }
  if ((sideEffectClass === "READ_ONLY") === (transactional.semantics === "read_only")) {
    return undefined;
  }
  const { semantics } = transactional;
  return `semantics ${semantics} contradicts side-effect class ${sideEffectClass}; change one`;
}

function isAtLeast(sideEffectClass: SideEffectClass, least: SideEffectClass): boolean {
  return SIDE_EFFECT_CLASSES.indexOf(sideEffectClass) >= SIDE_EFFECT_CLASSES.indexOf(least);
}

function checkConsent({ contract }: DerivedContract): string | undefined {
  const { sideEffectClass, transactional } = contract;
  const needs = isAtLeast(sideEffectClass, "HIGH_RISK_EXTERNAL");
  if (!needs || transactional.confirmationRequired) return undefined;
  return `class ${sideEffectClass} needs transactional.confirmationRequired; set it to true`;
}

/** Threat: people trust that a risky write is verified, and nothing ever reads its state. */
function checkVerification({ contract }: DerivedContract): string | undefined {
  const { effect, sideEffectClass, transactional } = contract;
  const isRead = hasCode(contract, "verify");
  if (contract.saga) {
    return isRead || contract.verification || transactional.verificationRequired
      ? "a saga is verified by its steps; remove verify and the section verification"
      : undefined;
  }
  if (isRead !== (contract.verification !== undefined)) {
    return "verify and the section verification need each other; set both or neither";
  }
  if (isRead && effect === "read_only") return "verify needs a write; remove it";
  if (!isRead && isAtLeast(sideEffectClass, "HIGH_RISK_EXTERNAL")) {
    return `class ${sideEffectClass} needs verify and the section verification; add them`;
  }
  if (transactional.verificationRequired !== isRead) {
    return isRead
      ? "verify needs transactional.verificationRequired; set it to true"
      : "transactional.verificationRequired needs verify and the section verification; add them";
  }
  return undefined;
}

function checkIdempotency({ contract }: DerivedContract): string | undefined {
  const { sideEffectClass, idempotency } = contract;
  const needs = isAtLeast(sideEffectClass, "LOW_RISK_INTERNAL");
  return !needs || idempotency.required
    ? undefined
    : `class ${sideEffectClass} needs idempotency.required; set it to true`;
}

/** Threat: a write is repeated under a key that its service has forgotten. */
function checkRetryTime({ contract }: DerivedContract): string | undefined {
  const { effect, idempotency, runtime } = contract;
  if (runtime.retryForMs === 0) return undefined;
  if (effect === "read_only" || !idempotency.supported) {
    return "runtime.retryForMs needs a write with idempotency.supported; set it to 0";
  }
  return runtime.retryForMs <= (idempotency.ttlSeconds ?? 0) * 1_000
    ? undefined
    : "runtime.retryForMs is longer than idempotency.ttlSeconds; make it shorter";
}

/** Threat: people approve a call, or a saga makes it, because it can be undone; but nothing can. */
function checkCompensation({ contract }: DerivedContract): string | undefined {
  const { sideEffectClass, transactional } = contract;
  const { compensationTool, semantics } = transactional;
  const hasArguments = contract.compensate !== undefined;
  if (compensationTool === contract.name) {
    return "compensationTool names the tool itself; name the tool that undoes the call";
  }
  const isPlanned =
    sideEffectClass === "MEDIUM_RISK_WRITE" || sideEffectClass === "CRITICAL_MUTATION";
  const hasNoPlan = compensationTool === null && !hasArguments;
  if (isPlanned && hasNoPlan && !PIVOTS.has(semantics)) {
    return `class ${sideEffectClass} needs a compensationTool or the semantics irreversible_pivot`;
  }
  if (!isCompensable(semantics)) {
    return hasNoPlan
      ? undefined
      : `semantics ${semantics} takes no compensationTool and no compensate; remove them`;
  }
  return compensationTool !== null && hasArguments
    ? undefined
    : `semantics ${semantics} needs a compensationTool and compensate; add both`;
}

/** By these an author says that nothing undoes a call. */
const PIVOTS: ReadonlySet<Semantics> = new Set(["irreversible_pivot", "retryable_post_pivot"]);

/** Threat: a step is repeated until it succeeds, and acts each time. */
function checkRepetition({ contract }: DerivedContract): string | undefined {
  const { idempotency, runtime, transactional } = contract;
  const { semantics } = transactional;
  const isPostPivot = semantics === "retryable_post_pivot";
  if (!isPostPivot && semantics !== "idempotent_write") return undefined;
  if (!idempotency.supported) {
    return `semantics ${semantics} needs idempotency.supported; set it to true`;
  }
  return isPostPivot && runtime.retryForMs === 0
    ? "semantics retryable_post_pivot needs runtime.retryForMs; say how long the call is repeated"
    : undefined;
}

function checkLifecycle({ contract }: DerivedContract): string | undefined {
  const { status, sunsetDate } = contract.lifecycle;
  return status === "active" || sunsetDate !== null
    ? undefined
    : `lifecycle ${status} needs a sunsetDate, such as 2027-06-30`;
}

/** Threat: people approve a call that nobody describes and of which they see nothing. */
function checkApprovable({ contract, inputSchema }: DerivedContract): string | undefined {
  if (!contract.transactional.confirmationRequired) return undefined;
  if (!contract.describe) {
    return "a tool whose calls need approval must describe them to people; add describe";
  }
  const isShown = contract.redaction.args.length > 0 || fieldNames(inputSchema).length === 0;
  return isShown
    ? undefined
    : "a tool whose calls need approval must show an argument; add one to redaction.args";
}

function checkExamples({ contract }: DerivedContract): string | undefined {
  for (const { description, arguments: args } of contract.examples) {
    const parsed = v.safeParse(contract.input, args);
    const about = `example ${JSON.stringify(description)}`;
    if (!parsed.success) return `${about} does not fit the input: ${formatIssue(parsed.issues[0])}`;
    const rules = contract.rules as readonly SemanticRule<unknown>[];
    const broken = rules.find((rule) => !rule.holds(parsed.output));
    if (broken) return `${about} breaks the rule ${broken.code}`;
  }
  return undefined;
}

/** Providers refuse a whole request because of one text that is too long. */
function checkModelText({ contract }: DerivedContract): string | undefined {
  const { length } = formatModelText(contract);
  return length <= MAX_MODEL_TEXT_CHARS
    ? undefined
    : `description, use cases and examples have ${length} characters; a model takes ${MAX_MODEL_TEXT_CHARS}`;
}

/** A counterexample must fit the input and break its rule, or it proves nothing. */
function checkCounterexamples({ contract }: DerivedContract): string | undefined {
  const rules = contract.rules as readonly SemanticRule<unknown>[];
  for (const rule of rules) {
    if (rule.counterexample === undefined) continue;
    const parsed = v.safeParse(contract.input, rule.counterexample);
    const about = `counterexample of the rule ${rule.code}`;
    if (!parsed.success) return `${about} does not fit the input: ${formatIssue(parsed.issues[0])}`;
    if (rule.holds(parsed.output)) return `${about} does not break it; choose other arguments`;
  }
  return undefined;
}
