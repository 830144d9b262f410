import type { BoundToolRuntime } from "../capabilities/tool.ts";
import type { ToolPolicy } from "../protocol/policy/document.ts";
import { isJsonObject, type JsonObject } from "../protocol/json/value.ts";
import { utf8Bytes } from "../protocol/text/encoding.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import { ok, type Result } from "../protocol/outcome/result.ts";
import { neutralise } from "../protocol/text/untrusted.ts";
import { replaceHalves } from "../protocol/text/whole-characters.ts";
import type { HideValues } from "../protocol/text/hide-values.ts";
import { failCall } from "./tool-failure.ts";
import { truncateResult, TRUNCATION_MARKER } from "./truncate-result.ts";

/** What leaves the runner of a tool's output. */
export interface NormalOutput {
  readonly data: JsonObject;
  /** What was done to it, for the model. */
  readonly warnings: readonly string[];
}

/** The tool whose output it is, and what hides the secrets of its connection. */
interface Source {
  readonly tool: BoundToolRuntime;
  readonly hide: HideValues;
}

/** What normalising takes of the run. */
interface Ports {
  readonly policy: Pick<ToolPolicy, "budgets">;
}

/**
 * The gate `output`: validates the tool's output, keeps its allowlisted fields, replaces half
 * characters, neutralises untrusted text, hides the secrets of the connection and shortens what is
 * too long.
 * Contract: never throws; names no field of the output, because the fault is the tool's and not the
 * model's. Fails: OBSERVATION_NORMALIZATION_FAIL.
 */
export function normaliseOutput(
  ports: Ports,
  source: Source,
  output: unknown,
): Result<NormalOutput, ToolFailure> {
  try {
    return normalise(ports, source, output);
  } catch {
    // The author's schema threw, or the output is nested without end.
    return INVALID_OUTPUT;
  }
}

const INVALID_OUTPUT = failCall("OBSERVATION_NORMALIZATION_FAIL", {
  code: "invalid_output",
  message: "the tool ran, but its output does not fit its contract",
});

const MARKUP_REMOVED = "images, hidden characters or links were removed";
const SECRET_HIDDEN = "a secret of the connection was hidden";
const RESULT_CUT = "the result was cut to";

/** Tells whether a warning says what normalising did to an output. */
export function isAboutNormalising(warning: string): boolean {
  return (
    warning === MARKUP_REMOVED || warning === SECRET_HIDDEN || warning.startsWith(`${RESULT_CUT} `)
  );
}

function normalise(
  { policy }: Ports,
  { tool, hide }: Source,
  output: unknown,
): Result<NormalOutput, ToolFailure> {
  const valid = tool.validateOutput(output);
  if (!valid.ok) return INVALID_OUTPUT;
  const warnings: string[] = [];
  let data = replaceHalves(tool.redactOutput(valid.value));
  if (tool.isOutputUntrusted) {
    const harmless = neutralise(data);
    if (harmless.changed) warnings.push(MARKUP_REMOVED);
    data = isJsonObject(harmless.value) ? harmless.value : {};
  }
  // After the cleaning, which may join the halves of a secret; before the cut, which may halve one.
  const shown = hide(data);
  if (shown !== data) warnings.push(SECRET_HIDDEN);
  const { maxResultBytes = tool.maxResultBytes } = policy.budgets;
  const maxBytes = Math.min(tool.maxResultBytes, maxResultBytes);
  if (utf8Bytes(JSON.stringify(shown)) <= maxBytes) return ok({ data: shown, warnings });
  const shorter = truncateResult(shown, maxBytes);
  if (!shorter) {
    const message = `the tool ran, but its output exceeds ${maxBytes} bytes`;
    return failCall("OBSERVATION_NORMALIZATION_FAIL", { code: "result_too_large", message });
  }
  warnings.push(
    `${RESULT_CUT} ${maxBytes} bytes: text ends with "${TRUNCATION_MARKER}", lists may be shorter`,
  );
  return ok({ data: shorter, warnings });
}
