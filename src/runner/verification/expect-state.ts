import type { Log } from "../../capabilities/log.ts";
import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { ExpectedState } from "../../protocol/outcome/verification.ts";
import { maskValues, withheldValues, type MaskValues } from "../../protocol/secrets/mask-values.ts";
import { neutralise } from "../../protocol/text/untrusted.ts";
import { replaceHalves } from "../../protocol/text/whole-characters.ts";
import type { AcceptedArguments } from "../gates/subjects.ts";
import { readState, showState } from "../author-code/read-state.ts";

/** The state that a call leads to, as `verify` gets it and as the observation shows it. */
export interface Expectation {
  /** Null when the contract could not tell it. */
  readonly expected: ExpectedState | null;
  readonly shown: Shown | null;
}

/** `state` is null when redaction, or its size, left nothing to show. */
interface Shown {
  readonly reference: string;
  readonly state: JsonObject | null;
}

/** The call whose effect is expected, and what masks the secrets of its connection. */
export interface ExpectedCall {
  readonly tool: BoundToolRuntime;
  readonly accepted: Pick<AcceptedArguments, "args" | "shown">;
  readonly mask: MaskValues;
}

const NOTHING: Expectation = { expected: null, shown: null };
const MAX_REFERENCE_CHARS = 256;

/**
 * Asks the contract which state a completed call leads to; undefined for a contract that is not
 * verified. Contract: never throws; an author's function that throws, or answers something else,
 * expects nothing.
 */
export function expectState(
  { log }: { readonly log: Log },
  call: ExpectedCall,
  output: JsonObject,
): Expectation | undefined {
  const { tool, accepted } = call;
  if (!tool.expectState) return undefined;
  try {
    const expected = readExpected(tool.expectState(accepted.args, output));
    return expected ? { expected, shown: show(call, expected, output) } : NOTHING;
  } catch (thrown) {
    const about = { toolId: tool.id, toolVersion: tool.version, mask: cleanerOf(call) };
    log.fault("tool_threw", thrown, about);
    return NOTHING;
  }
}

function readExpected(answer: unknown): ExpectedState | undefined {
  const { reference, state } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof reference !== "string" || reference.trim() === "") return undefined;
  const plain = readState(state);
  return plain && reference.length <= MAX_REFERENCE_CHARS ? { reference, state: plain } : undefined;
}

/** No allowlist covers a reference, so it shows no withheld value of the output either. */
function show(call: ExpectedCall, { reference, state }: ExpectedState, output: JsonObject): Shown {
  const clean = cleanerOf(call);
  const maskOutput = maskValues(withheldValues(output, call.tool.redactOutput(output)));
  return {
    reference: maskOutput(clean(replaceHalves(reference))),
    state: showVerifiedState(call, state),
  };
}

/** Shows a state of the target to the model and to people; null when nothing of it is left. */
export function showVerifiedState(call: ExpectedCall, state: JsonObject): JsonObject | null {
  return showState({ tool: call.tool, mask: cleanerOf(call) }, state);
}

/**
 * Threat: a reference and a state are made of arguments that redaction withholds, and of texts that
 * others wrote.
 */
function cleanerOf({ tool, accepted, mask }: ExpectedCall): MaskValues {
  const maskArguments = maskValues(withheldValues(accepted.args, accepted.shown));
  return (value) => maskArguments(mask(tool.isOutputUntrusted ? neutralise(value).value : value));
}
