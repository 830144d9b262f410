import type { HookedCall } from "../capabilities/tool-hook.ts";
import { hashOf, hashText } from "../protocol/canonical-hash.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { ToolFailure } from "../protocol/observation.ts";
import { ok, type Result } from "../protocol/result.ts";
import { askTool } from "./ask-tool.ts";
import type { CallInHand } from "./call-in-hand.ts";
import { askBefore } from "./gates/ask-hooks.ts";
import { authorise } from "./gates/authorise.ts";
import { checkApproval } from "./gates/check-approval.ts";
import { checkArgumentRules } from "./gates/check-argument-rules.ts";
import { checkHistory } from "./gates/check-history.ts";
import { checkPolicy } from "./gates/check-policy.ts";
import { checkState } from "./gates/check-state.ts";
import { normaliseOutput, type NormalOutput } from "./gates/normalise-output.ts";
import { parseCall } from "./gates/parse-call.ts";
import { reserveBudget } from "./gates/reserve-budget.ts";
import { CANCELLED } from "./tool-failure.ts";
import { openInvocation, type Invocation } from "./invocation.ts";

/** How far an attempt came, and how it ended. */
export interface Passage {
  /** Equal for equal arguments. */
  readonly argumentsPrint: string;
  /** Redacted; absent when they never passed validation. */
  readonly args?: JsonObject;
  /** The tool began to run. */
  readonly dispatched: boolean;
  readonly outcome: Result<NormalOutput, ToolFailure>;
}

/**
 * Takes one attempt at a call through every gate, in the order of the design's pipeline. Nothing of it
 * is remembered from one attempt to the next but what it has reserved.
 */
export async function passGates(hand: CallInHand): Promise<Passage> {
  const { tool, call, ports } = hand;
  const refused = async (
    outcome: Result<never, ToolFailure>,
    print: Promise<string> = hashText(call.argumentsText.trim()),
  ): Promise<Passage> => ({ argumentsPrint: await print, dispatched: false, outcome });

  const allowed = checkPolicy(ports.policy, tool);
  if (!allowed.ok) return refused(allowed);

  const parsed = parseCall(call, tool);
  if (!parsed.ok) return refused(parsed);

  const valid = tool.validateInput(parsed.value);
  if (!valid.ok) return refused(valid, hashOf(parsed.value));

  const ruled = tool.checkRules(valid.value);
  if (!ruled.ok) return refused(ruled, hashOf(parsed.value));

  const shown = tool.redactArgs(valid.value);
  const payloadHash = await hashOf(valid.value);
  const known = { argumentsPrint: payloadHash, args: shown };
  const accepted: Accepted = { args: valid.value, shown, payloadHash };
  const admitted = await admit(hand, accepted);
  if (!admitted.ok) return { ...known, dispatched: false, outcome: admitted };
  const invocation = admitted.value;
  try {
    const outcome = await dispatch(hand, invocation, accepted);
    return { ...known, dispatched: true, outcome };
  } finally {
    invocation.close();
  }
}

/** Arguments that fit the contract. */
interface Accepted {
  readonly args: JsonObject;
  /** Redacted. */
  readonly shown: JsonObject;
  readonly payloadHash: string;
}

/** Gates 6 to 10: who asks, what policy and state say, and whether it can be afforded. */
async function admit(
  hand: CallInHand,
  accepted: Accepted,
): Promise<Result<Invocation, ToolFailure>> {
  const { tool, ports } = hand;

  const authorised = await authorise(hand, ports.policy);
  if (!authorised.ok) return authorised;

  const ruled = checkArgumentRules(ports.policy, tool, accepted.args);
  if (!ruled.ok) return ruled;

  const opened = await openInvocation(hand, accepted.payloadHash, authorised.value);
  if (!opened.ok) return opened;
  const invocation = opened.value;

  const ready = await prepare(hand, accepted, invocation);
  if (ready.ok) return opened;
  invocation.close();
  return ready;
}

async function prepare(
  hand: CallInHand,
  { args, shown, payloadHash }: Accepted,
  { context, scope }: Invocation,
): Promise<Result<null, ToolFailure>> {
  const { tool, ports } = hand;

  const fresh = await checkState(hand, args, scope);
  if (!fresh.ok) return fresh;

  const approved = checkApproval(ports.policy, tool);
  if (!approved.ok) return approved;

  const useful = checkHistory(hand, payloadHash);
  if (!useful.ok) return useful;

  const bound = { ...hand, context };
  const willing = await askBefore(ports.hooks, hookedCall(bound, shown));
  if (!willing.ok) return willing;

  const reserved = await reserveBudget(bound, args);
  if (!reserved.ok) return reserved;
  return hand.signal.aborted ? CANCELLED : ok(null);
}

/** Gates 12 and 13: runs the tool and makes an observation's worth of what it answers. */
async function dispatch(
  hand: CallInHand,
  { context, scope }: Invocation,
  { args, shown }: Accepted,
): Promise<Result<NormalOutput, ToolFailure>> {
  const { tool } = hand;
  hand.announceStart(hand, shown);
  const done = await askTool(hand, () => tool.exec(args, context, scope));
  return done.ok ? normaliseOutput(hand, done.value) : done;
}

/** What the deployment's hooks are shown of a call. */
export function hookedCall({ tool, context }: CallInHand, args: JsonObject): HookedCall {
  const { id: toolId, version, sideEffectClass } = tool;
  return { toolId, version, sideEffectClass, args, context };
}
