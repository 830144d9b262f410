import type { HookedCall, BoundToolRuntime } from "../capabilities/tool.ts";
import type { ApprovalRecord } from "../protocol/approval/record.ts";
import { hashOf, hashText } from "../protocol/json/canonical-hash.ts";
import type { JsonObject } from "../protocol/json/value.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import { fail, type Result } from "../protocol/outcome/result.ts";
import type { ToolInvocationContext } from "../protocol/invocation/record.ts";
import type { Accepted } from "./accepted.ts";
import { askTool } from "./ask-tool.ts";
import { mutates, type ActiveCall } from "./active-call.ts";
import { askBefore } from "./gates/ask-hooks.ts";
import { authorise } from "./gates/authorise.ts";
import { checkApproval, type Approved } from "./gates/check-approval.ts";
import { checkArgumentRules } from "./gates/check-argument-rules.ts";
import { checkArguments } from "./gates/check-arguments.ts";
import { checkHistory } from "./gates/check-history.ts";
import { checkPolicy } from "./gates/check-policy.ts";
import { checkRules } from "./gates/check-rules.ts";
import { checkState } from "./gates/check-state.ts";
import { checkStillWanted } from "./gates/check-still-wanted.ts";
import type { GateResults, GateTrail } from "./gates/trail.ts";
import { normaliseOutput, type NormalOutput } from "./gates/normalise-output.ts";
import { parseCall } from "./gates/parse-call.ts";
import { reserveBudget } from "./gates/reserve-budget.ts";
import { openInvocation, type Invocation } from "./invocation.ts";
import { CANCELLED } from "./tool-failure.ts";
import { WAITING } from "./waiting.ts";

/** How far an attempt came, and how it ended. */
export interface AttemptResult {
  /** Equal for equal arguments. */
  readonly argumentsFingerprint: string;
  /** Redacted; absent when they never passed validation. */
  readonly args?: JsonObject;
  /** What the tool began to run with, in this attempt or else in an earlier one. */
  readonly begun: ToolInvocationContext | undefined;
  /** The tool was asked to act in this attempt. */
  readonly dispatched: boolean;
  readonly outcome: Result<NormalOutput, ToolFailure>;
  /** The effect is that of an earlier attempt, which was found and not repeated. */
  readonly isReplay?: boolean;
  /** What the gates of this attempt said; absent when none was asked. */
  readonly gates?: GateResults;
}

/**
 * Takes one attempt at a call through every gate, in the order of the design's pipeline. Nothing of it
 * is remembered from one attempt to the next but what it has reserved, and that the tool has begun.
 * Contract: throws only when the tool did not run.
 */
export async function passGates(
  hand: ActiveCall,
  trail: GateTrail,
): Promise<AttemptResult | typeof WAITING> {
  const passage = await tryGates({ ...hand, trail });
  return passage === WAITING ? WAITING : { ...passage, gates: trail.results };
}

/** A call whose gates are noted. */
type NotedCall = ActiveCall & { readonly trail: GateTrail };

/** Gates 2 to 5, what is asked for; then who asks. */
async function tryGates(hand: NotedCall): Promise<AttemptResult | typeof WAITING> {
  const { tool, call, ports, begun, trail } = hand;
  const refused = async (
    outcome: Result<never, ToolFailure>,
    print: Promise<string> = hashText(call.argumentsText.trim()),
  ): Promise<AttemptResult> => ({
    argumentsFingerprint: await print,
    begun,
    dispatched: false,
    outcome,
  });

  const wanted = trail.note("turn", checkStillWanted(hand, begun !== undefined));
  if (!wanted.ok) return refused(wanted);

  const allowed = trail.note("policy", checkPolicy(ports.policy, tool));
  if (!allowed.ok) return refused(allowed);

  const parsed = trail.note("parse", parseCall(call, tool));
  if (!parsed.ok) return refused(parsed);

  const valid = trail.note("arguments", checkArguments(tool, parsed.value));
  if (!valid.ok) return refused(valid, hashOf(parsed.value));

  const ruled = trail.note("rules", checkRules(tool, valid.value));
  if (!ruled.ok) return refused(ruled, hashOf(parsed.value));

  const args = tool.redactArgs(valid.value);
  const payloadHash = await hashOf(valid.value);
  const ending = await admit(hand, { args: valid.value, shown: args, payloadHash });
  if (ending === WAITING) return WAITING;
  return { argumentsFingerprint: payloadHash, args, ...ending };
}

type Ending = Pick<AttemptResult, "begun" | "dispatched" | "outcome">;

/** Gates 6 and 7, who asks and what policy says of the arguments; then the call gets what it runs with. */
async function admit(hand: NotedCall, accepted: Accepted): Promise<Ending | typeof WAITING> {
  const { tool, ports, begun, trail } = hand;
  const refused = (outcome: Result<never, ToolFailure>): Ending => {
    return { begun, dispatched: false, outcome };
  };

  const authorised = trail.note("authorise", await authorise(hand, ports.policy));
  if (!authorised.ok) return refused(authorised);

  const ruled = trail.note("argument_rules", checkArgumentRules(ports.policy, tool, accepted.args));
  if (!ruled.ok) return refused(ruled);

  const opened = trail.note(
    "connection",
    await openInvocation(hand, accepted.payloadHash, authorised.value),
  );
  if (!opened.ok) return refused(opened);
  const invocation = opened.value;
  try {
    const ready = await prepare(hand, accepted, invocation);
    if (!ready.ok) {
      return ready.failure === WAITING ? WAITING : refused(fail(ready.failure));
    }
    if (hand.signal.aborted) return refused(trail.note("turn", CANCELLED));

    await markDispatched(hand, accepted, ready.value);
    if (hand.signal.aborted) return refused(trail.note("turn", CANCELLED));
    const outcome = await runTool(hand, accepted, invocation);
    return { begun: invocation.context, dispatched: true, outcome };
  } finally {
    invocation.close();
  }
}

/**
 * Gates 8 to 11: whether the call still fits, people agree where they have to, it can be afforded, and is
 * the one. Contract: answers the approval that it takes.
 */
async function prepare(
  hand: NotedCall,
  accepted: Accepted,
  invocation: Invocation,
): Promise<Approved> {
  const { tool, ports, begun, signal, trail } = hand;
  const { args, shown, payloadHash } = accepted;
  const { context, scope } = invocation;

  const fresh = trail.note("state", await checkState(hand, args, scope));
  if (!fresh.ok) return fresh;

  const approved = trail.note("approval", await checkApproval(hand, accepted, invocation));
  if (!approved.ok) return approved;

  const useful = trail.note("history", checkHistory(hand, payloadHash));
  if (!useful.ok) return useful;

  const asked = hookedCall(tool, context, shown);
  const willing = trail.note("hooks", await askBefore(ports, asked, signal));
  if (!willing.ok) return willing;

  const wanted = trail.note("turn", checkStillWanted(hand, begun !== undefined));
  if (!wanted.ok) return wanted;

  const boundHand = { ...hand, context };
  const asks = { accepted, invocation, approval: approved.value };
  const reserved = trail.note("budget", await reserveBudget(boundHand, asks));
  if (!reserved.ok) return reserved;

  const { version } = tool;
  const { idempotencyKey } = scope;
  const binding = { version, payloadHash, idempotencyKey, mutates: mutates(tool), args: shown };
  const bound = trail.note("idempotency", ports.invocations.bind(context, binding));
  return bound.ok ? reserved : bound;
}

/**
 * Says that the tool is about to act. What changes something is durably said to begin before it does, so
 * that a crash leaves a question instead of a second effect; so is what takes an approval.
 */
async function markDispatched(
  { call, tool, ports, context }: ActiveCall,
  { shown }: Accepted,
  approval: ApprovalRecord | null,
): Promise<void> {
  const { part, toolCallId } = context;
  const isFirst = ports.invocations.find(context)?.dispatches === 0;
  ports.invocations.dispatch(context);
  if (isFirst) {
    const start = { type: "tool_call_start", part, toolCallId, toolName: call.name } as const;
    ports.journal.append([{ ...start, args: shown }]);
  }
  if (approval) ports.approvals.consume(approval.id, ports.clock.nowMs());
  if (mutates(tool) || approval) await ports.journal.secure();
}

/** Gates 12 and 13: runs the tool and makes an observation's worth of what it answers. */
async function runTool(
  hand: NotedCall,
  { args }: Accepted,
  { context, scope }: Invocation,
): Promise<Result<NormalOutput, ToolFailure>> {
  const { tool, trail } = hand;
  const done = trail.note("execute", await askTool(hand, () => tool.exec(args, context, scope)));
  return done.ok ? trail.note("output", normaliseOutput(hand, done.value)) : done;
}

/** What the deployment's hooks are shown of a call. */
export function hookedCall(
  { id: toolId, version, sideEffectClass }: BoundToolRuntime,
  context: ToolInvocationContext,
  args: JsonObject,
): HookedCall {
  return { toolId, version, sideEffectClass, args, context };
}
