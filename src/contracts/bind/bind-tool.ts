import type { ResultReader } from "../../capabilities/results.ts";
import * as v from "valibot";
import type {
  BoundAsk,
  BoundSaga,
  BoundToolRuntime,
  AttemptScope,
  RunCapabilities,
  RunTitle,
  StepOutput,
  ToolCapabilities,
} from "../../capabilities/tool.ts";
import type { ToolInvocationContext } from "../../protocol/invocation/record.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import { copyOf } from "../../protocol/json/copy.ts";
import { fail, ok } from "../../protocol/outcome/result.ts";
import type { JsonSchema7 } from "../../protocol/tool/spec.ts";
import { neutralise } from "../../protocol/text/untrusted.ts";
import type { Workspace } from "../../capabilities/workspace.ts";
import type {
  AnyToolContract,
  ClosedObjectSchema,
  SagaPlan,
  SemanticRule,
  StepResults,
  ToolContract,
  ToolDefinition,
} from "../define/definition.ts";
import { ANSWER_SECONDS, type AskSection } from "../define/ask-section.ts";
import { revealCode } from "../define/author-code.ts";
import { bindHttp, type Purpose } from "./bind-http.ts";
import { redeemTicket } from "./dispatch-ticket.ts";
import { compileAllowlist, redact } from "./redact.ts";
import type { RegisteredContract } from "../catalog/registered.ts";
import { readContent } from "./read-content.ts";
import { classifyIssues } from "./classify-issues.ts";

/**
 * Binds a contract to capabilities. Each function of the author gets its own copy of arguments,
 * output, state and context.
 * Threat: a function changes its arguments, and later ones act with what nobody checked.
 */
export function bindTool(
  { contract, spec, formSchema, isOutputTextFree, discloses }: RegisteredContract,
  capabilities: RunCapabilities,
): BoundToolRuntime {
  const argsAllowlist = compileAllowlist(contract.redaction.args);
  const outputAllowlist = compileAllowlist(contract.redaction.output);
  const stateAllowlist = compileAllowlist(contract.redaction.state ?? []);
  const detailsAllowlist = compileAllowlist(contract.redaction.details ?? []);
  const { runtime, security, transactional, idempotency, amountField } = contract;
  // The contract's functions accept exactly what its own schema lets through.
  const executable = contract as unknown as ToolContract;
  const code = revealCode(contract) as ToolDefinition;
  const grant = (context: ToolInvocationContext, scope: AttemptScope, purpose: Purpose): Granted =>
    grantCapabilities(contract, capabilities, { ...scope, context, purpose });
  const tool = { id: spec.name, version: contract.version };
  return {
    ...tool,
    spec,
    effect: contract.effect,
    sideEffectClass: contract.sideEffectClass,
    confirmationRequired: transactional.confirmationRequired,
    shownToModel: contract.shownToModel,
    compensation: { semantics: transactional.semantics, tool: transactional.compensationTool },
    lifecycle: contract.lifecycle,
    timeoutMs: runtime.timeoutMs,
    maxArgumentsBytes: runtime.maxArgumentsBytes,
    maxResultBytes: runtime.maxResultBytes,
    maxTextBytes: contract.content.maxTextBytes,
    maxRetries: runtime.maxRetries,
    retryForMs: runtime.retryForMs,
    keyTtlMs: (idempotency.ttlSeconds ?? Number.POSITIVE_INFINITY) * 1_000,
    rateLimit: runtime.rateLimit,
    cost: runtime.cost,
    ...(amountField !== undefined && { amountField }),
    requiredScopes: security.requiredScopes,
    requiresConnection: contract.requiresConnection,
    addresses: capabilities.egress.addressesOf(security.upstreams),
    owner: contract.owner,
    usesWorkspace: contract.workspace !== undefined,
    isIdempotent: idempotency.supported,
    isParallel: contract.parallel,
    isOutputUntrusted: security.untrustedOutput,
    isOutputTextFree,
    discloses,
    isVerificationRequired: transactional.verificationRequired,
    verificationDelaySeconds: contract.verification?.delaySeconds ?? 0,
    progressStages: contract.progressStages,
    errorClasses: new Map(Object.entries(contract.errors)),
    validateInput: (args) => parseWith(contract.input, args),
    checkRules: (args) => checkRules(executable.rules, args),
    checkState: async (args, context, scope) =>
      code.checkState
        ? code.checkState(copyOf(args), copyOf(context), grant(context, scope, "ask"))
        : ok(null),
    ...(executable.ask && formSchema && { ask: bindAsk(executable.ask, formSchema) }),
    drifting: Object.entries(contract.mayDrift ?? {}).map(([field, reason]) => ({
      field,
      reason,
    })),
    ...(executable.describe && {
      describe: (args, before) => executable.describe?.(copyOf(args), copyOf(before)),
    }),
    ...(code.preview && {
      preview: async (args, context, scope) =>
        code.preview?.(copyOf(args), copyOf(context), grant(context, scope, "ask")),
    }),
    ...(executable.compensate && {
      compensate: (args, output) => executable.compensate?.(copyOf(args), copyOf(output)),
    }),
    ...(contract.saga && { saga: bindSaga(contract.saga) }),
    async performDispatched(ticket) {
      const { args, context, scope } = redeemTicket(ticket, tool);
      return code.execute(copyOf(args), copyOf(context), grant(context, scope, "act"));
    },
    ...(code.reconcile && {
      reconcile: async (args, context, scope) =>
        code.reconcile?.(copyOf(args), copyOf(context), grant(context, scope, "ask")) ?? {
          kind: "unknown",
        },
    }),
    ...(executable.verification && {
      expectState: (args, output) => executable.verification?.expect(copyOf(args), copyOf(output)),
    }),
    ...(code.verify && {
      // oxlint-disable-next-line max-params -- authors get what they get elsewhere, and the state
      verify: async (args, expected, context, scope) =>
        code.verify?.(
          copyOf(args),
          copyOf(expected),
          copyOf(context),
          grant(context, scope, "ask"),
        ),
    }),
    validateOutput: (output) => parseWith(contract.output, output),
    readContent: (content) => {
      const parts = readContent(content, contract.content);
      return parts ? ok(parts) : CONTENT_REFUSED;
    },
    readDetails: (details) => {
      const parsed = contract.details && v.safeParse(contract.details, details);
      return parsed?.success ? redact(parsed.output as JsonObject, detailsAllowlist) : undefined;
    },
    redactArgs: (args) => redact(args, argsAllowlist),
    redactOutput: (output) => redact(output, outputAllowlist),
    redactState: (state) => redact(state, stateAllowlist),
  };
}

const CONTENT_REFUSED = fail({
  taxonomyClass: "TYPE_MISMATCH" as const,
  errors: [
    { field: "content", code: "content", message: "expected what the section content allows" },
  ],
});

function bindAsk(ask: AskSection<JsonObject>, formSchema: JsonSchema7): BoundAsk {
  const { form, ttlSeconds = ANSWER_SECONDS } = ask;
  return {
    ttlSeconds,
    formSchema,
    question: (args, before) => ask.question(copyOf(args), copyOf(before)),
    readAnswer: (answer) => parseWith(form, answer),
  };
}

/** Binds the author's functions, which take the arguments that the saga's own schema accepts. */
function bindSaga({ steps, result }: SagaPlan): BoundSaga {
  return {
    steps: steps.map((step) => ({
      toolId: step.tool,
      arguments: (args, done) => step.arguments(copyOf(args) as never, readResults(done)),
    })),
    result: (args, done) => result(copyOf(args) as never, readResults(done)),
  };
}

function readResults(done: readonly StepOutput[]): StepResults {
  return {
    of({ name }) {
      const step = done.findLast(({ toolId }) => toolId === name);
      if (!step) throw new Error(`no output of ${name} is known yet`);
      const output: unknown = copyOf(step.output);
      return output as never;
    },
  };
}

function parseWith(
  schema: ClosedObjectSchema,
  value: unknown,
): ReturnType<BoundToolRuntime["validateInput"]> {
  const parsed = v.safeParse(schema, value);
  return parsed.success ? ok(parsed.output as JsonObject) : fail(classifyIssues(parsed.issues));
}

function checkRules(
  rules: readonly Omit<SemanticRule<JsonObject>, "counterexample">[],
  args: JsonObject,
): ReturnType<BoundToolRuntime["checkRules"]> {
  const errors = rules
    // An author who does not use TypeScript may return a promise, which is neither yes nor no.
    .filter((rule) => (rule.holds(copyOf(args)) as unknown) !== true)
    .map(({ code, message, field = null }) => ({ field, code, message }));
  return errors.length === 0 ? ok(null) : fail({ taxonomyClass: "SEMANTIC_INVALIDITY", errors });
}

/**
 * Grants the capabilities that the contract names, and no others. They end with the invocation: an
 * abandoned tool must not act any more.
 */
function grantCapabilities(
  contract: AnyToolContract,
  { egress, workspaces, runTitle, results, ...capabilities }: RunCapabilities,
  scope: AttemptScope & { readonly purpose: Purpose; readonly context: ToolInvocationContext },
): Granted {
  const { signal, idempotencyKey, auth, progress, mask } = scope;
  const http = bindHttp(contract, egress, scope);
  const clean = (text: string): string =>
    mask(contract.security.untrustedOutput ? neutralise(text).value : text);
  const title: RunTitle = { set: (text) => runTitle.set(clean(text)) };
  const workspace = bindWorkspace(contract, workspaces, scope);
  const all = {
    ...capabilities,
    runTitle: title,
    progress,
    http,
    ...(auth && { auth }),
    ...(workspace && { workspace }),
    ...(results && { results: bindResults(results, scope) }),
  };
  const granted: Record<string, unknown> = { signal, idempotencyKey };
  for (const name of contract.capabilities) {
    const capability = all[name];
    if (capability) granted[name] = untilAborted(capability, signal);
  }
  return granted as unknown as Granted;
}

/** What the call reads on, it has read from then on: its output counts as that of its source. */
function bindResults(
  results: ResultReader,
  { rowSources }: Pick<AttemptScope, "rowSources">,
): ResultReader {
  return {
    async read(call) {
      const found = await results.read(call);
      if (found && found.sources.length > 0) rowSources.note(found.sources);
      return found;
    },
  };
}

/** A function that only asks, and a read-only tool, cannot write. The former may rehearse. */
function bindWorkspace(
  { workspace: name, effect, idempotency }: AnyToolContract,
  workspaces: RunCapabilities["workspaces"],
  scope: Parameters<typeof grantCapabilities>[2],
): Workspace | undefined {
  if (name === undefined) return undefined;
  const { context, conversationId, idempotencyKey: key, timeoutMs, purpose } = scope;
  const keyTtlMs = (idempotency.ttlSeconds ?? 0) * 1_000;
  const hasEffect = effect !== "read_only";
  return workspaces?.bind({
    name,
    user: { ...context, conversationId },
    timeoutMs,
    sources: scope.rowSources,
    ...(hasEffect && { rehearsalKey: key }),
    ...(hasEffect && purpose === "act" && { write: { key, keyTtlMs, note: scope.noteWrite } }),
  });
}

/** What `execute` receives: the named capabilities, the signal and the idempotency key. */
type Granted = ToolCapabilities & { readonly signal: AbortSignal; readonly idempotencyKey: string };

function untilAborted<T extends object>(capability: T, signal: AbortSignal): T {
  // Other tools share the capability, so nobody replaces its functions.
  const refuse = (): boolean => false;
  return new Proxy(capability, {
    defineProperty: refuse,
    deleteProperty: refuse,
    setPrototypeOf: refuse,
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
