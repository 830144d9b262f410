import { say } from "../../texts/say.ts";
import { sayError } from "../../texts/say-error.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json/value.ts";
import { RESULT_CUT } from "../../../protocol/outcome/kept-result.ts";
import { formatPath, sentence } from "../../../protocol/text/field-label.ts";
import { formatValue, MAX_FIELDS, shorten } from "./fields.ts";

/** The result of a tool call, read from an untrusted observation. */
export interface ToolOutcome {
  readonly data: JsonValue;
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  /** True when the result was cut; its whole may be kept. */
  readonly isCut: boolean;
  /** True when the call's outcome is unknown. */
  readonly isUnknown: boolean;
}

/** The progress of a running call: consistent numbers, a stage of its contract, a short text. */
export interface ToolProgress {
  readonly stage?: string;
  readonly text?: string;
  /** From 0 to 1. */
  readonly share?: number;
  readonly attempt?: number;
  /** When that attempt begins, if nothing happens until then. Unit: Unix milliseconds. */
  readonly retryAtMs?: number;
}

/** Reads an ObservationObject. Any other value is the data. Contract: never throws. */
export function readOutcome(observation: JsonValue): ToolOutcome {
  const payload = isJsonObject(observation) ? own(observation, "result_payload") : undefined;
  if (!isJsonObject(payload)) {
    return { data: observation, errors: [], warnings: [], isCut: false, isUnknown: false };
  }
  const errors = list(own(payload, "errors"));
  const data = own(payload, "data") ?? null;
  const warnings = list(own(payload, "warnings")).filter((one) => typeof one === "string");
  return {
    data,
    errors: errors.map(formatError),
    warnings,
    isCut: warnings.some((warning) => warning.includes(RESULT_CUT)),
    isUnknown: errors.some((error) => isJsonObject(error) && error["code"] === "outcome_unknown"),
  };
}

const MAX_STAGE_CHARS = 60;

/** Reads a tool's progress. Inconsistent numbers are left out. */
export function readProgress({
  stage,
  text,
  done,
  total,
  attempt,
  retryAt,
}: JsonObject): ToolProgress {
  const retryAtMs = typeof retryAt === "string" ? Date.parse(retryAt) : Number.NaN;
  const isCounted = typeof done === "number" && typeof total === "number" && total > 0;
  return {
    ...(typeof stage === "string" && { stage: sentence(stage).slice(0, MAX_STAGE_CHARS) }),
    ...(typeof text === "string" && text !== "" && { text: shorten(text) }),
    ...(isCounted && { share: Math.min(1, Math.max(0, done / total)) }),
    ...(typeof attempt === "number" && attempt > 1 && { attempt }),
    ...(Number.isFinite(retryAtMs) && { retryAtMs }),
  };
}

function formatError(error: JsonValue): string {
  if (!isJsonObject(error)) return formatValue(error);
  const message = own(error, "message");
  const field = own(error, "field");
  const text = typeof message === "string" && message ? sayError(message) : say("The call failed.");
  if (typeof field !== "string" || field === "") return shorten(text);
  const path = field.split("/").filter((key) => key !== "");
  return shorten(`${formatPath(path)}: ${text}`);
}

function list(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value.slice(0, MAX_FIELDS) : [];
}

/** Threat: keys are untrusted. `__proto__` must not answer for a missing key. */
function own(object: { readonly [key: string]: JsonValue }, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
