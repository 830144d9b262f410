import type { ModelDirectory } from "../capabilities/model.ts";
import type { LoadedPolicy } from "../capabilities/policy.ts";
import type { BoundTools } from "../capabilities/tool.ts";
import { loadTools } from "../contracts/catalog/load-tools.ts";
import { routeVersions } from "../contracts/catalog/route-versions.ts";
import { createToolCatalog } from "../contracts/catalog/tool-catalog.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import { callerOf, type Caller } from "../protocol/policy/callers.ts";
import type { ToolPolicy } from "../protocol/policy/document.ts";
import { mayShow } from "../protocol/policy/data-classes.ts";
import { amountsOf, IMPLIED_LIMITS } from "../protocol/policy/limits.ts";
import { soleWorkspace } from "../protocol/policy/membership.ts";
import { lowerBudgets, policyOfRun } from "../protocol/policy/narrow.ts";
import type { PolicyPin } from "../protocol/policy/pin.ts";
import type { RunClaim } from "../protocol/run/claim.ts";
import type { ToolSpec } from "../protocol/tool/spec.ts";
import { restoreRunBudget, type RunBudget } from "../runner/budget/of-run.ts";
import { maxWallClockMs } from "../runner/budget/run-time.ts";
import { createFlow } from "../runner/flow/evidence.ts";
import { createToolRunner } from "../runner/tool-runner.ts";
import { ConversationImages } from "./history/conversation-images.ts";
import { CallIds } from "./calls/call-ids.ts";
import { loadContext, NO_CONTEXT } from "./history/load-context.ts";
import { ModelBudget } from "./model/model-budget.ts";
import { ModelCalls } from "./model/model-calls.ts";
import { buildPrompt } from "./history/prompt.ts";
import { DATA_NOT_ALLOWED, endOfStop, TOOLS_UNAVAILABLE, type RunEnd } from "./run-end.ts";
import {
  stopReasonOf,
  type LoopInput,
  type RunPorts,
  type RunScope,
  type LoopState,
} from "./run-scope.ts";

/** What the scope of one incarnation is built from. */
export interface ScopeParts {
  readonly input: LoopInput;
  readonly ports: RunPorts;
  readonly state: LoopState;
}

/**
 * Builds what all steps of one incarnation share, and restores it from earlier incarnations. The
 * loop goes on with the tools that the source gives now. Fails: the run's end.
 */
export async function openScope({
  input,
  ports,
  state,
}: ScopeParts): Promise<Result<RunScope, RunEnd>> {
  const { claim, memory, signal } = input;
  const { facts, progress } = memory;
  const { journal } = ports;
  if (!progress.hasStarted) {
    journal.append([{ type: "run_started", runId: claim.runId, model: claim.model }]);
  }
  const [loaded, tools] = await Promise.all([
    pinPolicy({ input, ports }),
    loadTools(ports, claim.principal.tenantId),
  ]);
  if (!tools) {
    const stopped = stopReasonOf(signal);
    return fail(stopped ? endOfStop(stopped) : TOOLS_UNAVAILABLE);
  }
  const policy = policyOfRun(loaded.policy, claim);
  ports.limitTime(maxWallClockMs(policy));
  ports.limitStorage(policy.budgets.maxStoredBytes ?? IMPLIED_LIMITS.maxStoredBytes);
  // A direct call shows nothing to a model, so nothing asks for context.
  const workspaceId = claim.workspaceId ?? soleWorkspace(policy, claim.principal);
  const own = { ...ports, tools, policy, pin: loaded.pin, workspaceId };
  const context = claim.call ? ok(NO_CONTEXT) : await loadContext(input, own);
  const budget = restoreRunBudget(memory.invocations, {
    policy,
    person: claim.ownLimits && amountsOf(claim.ownLimits),
    raises: () => ports.approvals.raises(),
  });
  const modelOf = createDirectory(claim, ports.modelOf);
  const caller = callerOf(claim, modelOf);
  const terms = { tools, policy, pin: loaded.pin, budget, workspaceId, caller };
  const nextPart = counterFrom(progress.nextPart);
  const limited = lowerBudgets(policy, claim.ownLimits);
  const modelBudget = new ModelBudget({ ...ports, ...terms, policy: limited, claim, modelOf });
  modelBudget.restore(facts, progress.usage);
  return ok({
    claim,
    signal,
    state,
    model: ports.model,
    modelOf,
    journal,
    inbox: ports.inbox,
    mismatches: ports.mismatches,
    clock: ports.clock,
    log: ports.log,
    random: ports.random,
    ...openTools({ input, ports, state }, { ...terms, nextPart }),
    prompt:
      checkShownData({ input, state }, terms) ??
      (context.ok ? buildPrompt(claim, context.value) : context),
    summary: openSummary({ input, ports, state }, terms),
    modelBudget,
    modelCalls: restoreModelCalls({ input, ports }, policy),
    callIds: new CallIds(state.transcript.messages),
    isPolicyLost: facts.pin !== undefined && loaded.deniedBecause !== undefined,
    nextPart,
  });
}

/**
 * Ends a run whose conversation holds data that its policy does not show here.
 * Threat: somebody goes on with another model or assistant, which may not see the results.
 */
function checkShownData(
  { input: { claim }, state }: Pick<ScopeParts, "input" | "state">,
  { policy, caller }: Pick<RunTerms, "policy" | "caller">,
): Result<never, RunEnd> | undefined {
  const mayGoOn = state.transcript.dataClasses.every((one) => mayShow(policy, one, caller));
  return claim.call || mayGoOn ? undefined : fail(DATA_NOT_ALLOWED);
}

/**
 * Tells what the run has to summarise. Threat: a model that may not see the data of the
 * conversation summarises it.
 */
function openSummary(
  { input: { claim, memory }, ports: { conversationOf }, state }: ScopeParts,
  { policy, caller }: Pick<RunTerms, "policy" | "caller">,
): RunScope["summary"] {
  const { summarise: job, workflowId } = claim;
  if (!job || workflowId === undefined || !conversationOf || memory.facts.summary) return undefined;
  const asked = { ...caller, models: [job.rule.summary.model] };
  return {
    job,
    conversation: conversationOf(workflowId),
    isShown: state.transcript.dataClasses.every((one) => mayShow(policy, one, asked)),
  };
}

/** Finds models by id. Those of the tenant's own provider are known from the claim. */
export function createDirectory(
  {
    ownModel,
    ownFallbacks = [],
    ownSummaryModel,
  }: Pick<RunClaim, "ownModel" | "ownFallbacks" | "ownSummaryModel">,
  deployed: ModelDirectory,
): ModelDirectory {
  const known = [ownModel, ...ownFallbacks, ownSummaryModel].filter((one) => one !== undefined);
  const own = new Map(known.map((model) => [model.id, model]));
  return (id) => own.get(id) ?? deployed(id);
}

/**
 * Loads the run's policy. A run keeps one policy in all its incarnations.
 * Contract: the journal takes the pin before the policy allows anything.
 */
async function pinPolicy({
  input: { claim, memory },
  ports: { policies, journal },
}: Omit<ScopeParts, "state">): Promise<LoadedPolicy> {
  const { tenantId } = claim.principal;
  const { pin } = memory.facts;
  if (pin) return policies.read(tenantId, pin);
  const loaded = await policies.load(tenantId);
  journal.note({ pin: loaded.pin });
  return loaded;
}

interface RunTerms {
  readonly tools: BoundTools;
  readonly policy: ToolPolicy;
  readonly pin: PolicyPin | undefined;
  readonly budget: RunBudget;
  /** The workspace of the run; undefined when it has none. */
  readonly workspaceId: string | undefined;
  readonly caller: Caller;
  readonly nextPart: () => number;
}

/** Selects the versions of the run's tools, those that the model sees, and the runner. */
function openTools(
  { input: { claim, startedAtMs }, ports, state: { invocations, transcript } }: ScopeParts,
  { tools, policy, pin, budget, workspaceId, caller, nextPart }: RunTerms,
): Pick<RunScope, "tools" | "clientTools" | "runner"> {
  const specs = tools.listToolSpecs();
  const routing = { runKey: claim.runId, nowMs: startedAtMs };
  const { runId } = claim;
  const runner = createToolRunner({
    ...ports,
    tools,
    images: new ConversationImages({ ...ports, runId }, keptSoFar(transcript, invocations)),
    invocations,
    flow: createFlow(invocations, () => transcript.messages, ports.approvals),
    policy,
    pin,
    budget,
    nextPart,
    versions: routeVersions(specs, policy, routing),
    principal: claim.principal,
    caller,
    workflowId: claim.workflowId ?? claim.runId,
    connectionIds: claim.connectionIds ?? [],
    workspaceId,
  });
  const { scopes } = claim.principal;
  const user = { ...caller, scopes, connectionIds: claim.connectionIds ?? [], workspaceId };
  const { tools: shown } = createToolCatalog(specs, policy, { ...routing, user });
  return { runner, tools: [...shown.values()], clientTools: clientToolsOf(claim, specs) };
}

/**
 * Lists the tools of the client. Threat: a tool of the client takes the place of one that the
 * source has under the same name, past every gate.
 */
function clientToolsOf(
  { clientTools = [] }: RunClaim,
  specs: readonly ToolSpec[],
): RunScope["clientTools"] {
  const own = new Set(specs.map(({ name }) => name));
  return clientTools.filter(({ name }) => !own.has(name));
}

/** Lists the conversation, and the results that a crash kept out of it. */
function keptSoFar(
  { messages }: LoopState["transcript"],
  invocations: LoopState["invocations"],
): readonly TranscriptMessage[] {
  return messages.concat(
    invocations.ended().flatMap(({ toolCallId, name, end }) => {
      if (!end?.content) return [];
      const { observation: result, content } = end;
      return [{ role: "tool" as const, toolCallId, name, result, content }];
    }),
  );
}

/**
 * Restores the count of model calls. Every counted call may have been made, so every one counts.
 * Before the run started, none was made.
 */
function restoreModelCalls(
  { input: { claim, memory }, ports: { journal } }: Omit<ScopeParts, "state">,
  { budgets }: ToolPolicy,
): ModelCalls {
  const { facts, progress } = memory;
  const maxSteps = claim.call ? 0 : (budgets.maxSteps ?? IMPLIED_LIMITS.maxSteps);
  const made = progress.hasStarted ? facts.modelCalls : 0;
  return new ModelCalls(journal, { made, counted: facts.modelCalls }, maxSteps);
}

function counterFrom(first: number): () => number {
  let next = first;
  return () => next++;
}
