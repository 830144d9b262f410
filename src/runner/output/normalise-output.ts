import { failCall } from "../../protocol/outcome/failures.ts";
import type { Log, LogSubject } from "../../capabilities/log.ts";
import type { ToolAnswer } from "../../capabilities/tool.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json/value.ts";
import { utf8Bytes } from "../../protocol/text/encoding.ts";
import { type KeptResult, MAX_KEPT_BYTES, RESULT_CUT } from "../../protocol/outcome/kept-result.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { ContentPart } from "../../protocol/tool/content.ts";
import { neutralise } from "../../protocol/text/untrusted.ts";
import { replaceHalves } from "../../protocol/text/whole-characters.ts";
import { truncateResult, TRUNCATION_MARKER } from "../../protocol/tool/truncate-result.ts";
import type { ShownDetails } from "../../protocol/tool/details.ts";
import { readShownDetails } from "./details.ts";
import { expectState, type ExpectedCall, type Expectation } from "../verification/expect-state.ts";

/** A tool's output, and what leaves the runner of it. */
export interface NormalOutput {
  /** Validated, not redacted: it stays in the run's object. */
  readonly raw: JsonObject;
  readonly data: JsonObject;
  /** What the tool answered beside its data. */
  readonly content: readonly ContentPart[];
  /** What the tool told people; absent when it told nothing. */
  readonly details?: ShownDetails | undefined;
  /** What would be shown if nothing had been cut; absent when nothing was. */
  readonly whole?: KeptResult | undefined;
  /** What was done to it, for the model. */
  readonly warnings: readonly string[];
  /** Not everything that was asked for has happened: `data` says what. */
  readonly isPartial?: true;
  /** The state that the call leads to; absent without a verification. */
  readonly expectation?: Expectation | undefined;
}

/** The call whose output it is, and what masks the secrets of its connection. */
type Source = ExpectedCall;

/** What a tool returned. */
type Returned = Extract<ToolAnswer, { readonly ok: true }>;

/** What normalising takes of the run. */
interface Ports {
  readonly policy: Pick<ToolPolicy, "budgets">;
  readonly log: Log;
}

/**
 * The gate `output`: validates the tool's output and the content beside it, keeps the allowlisted
 * fields, replaces half characters, neutralises untrusted text, masks the secrets of the connection
 * and shortens what is too long.
 * Contract: never throws. Fails: OBSERVATION_NORMALIZATION_FAIL, which names no field to the model,
 * because the fault is the tool's. Operators read in the log and in the audit which field is wrong.
 */
export function normaliseOutput(
  ports: Ports,
  source: Source,
  returned: Returned,
): Result<NormalOutput, ToolFailure> {
  try {
    return normalise(ports, source, returned);
  } catch (thrown) {
    // The author's schema threw, or the output is nested without end.
    const about = { ...aboutTool(source), mask: source.mask };
    return fail({
      ...INVALID_OUTPUT.failure,
      errorId: ports.log.fault("call_failed", thrown, about),
    });
  }
}

/**
 * Threat: an output holds secrets. `validateOutput` names fields and kinds, and no value; the
 * output itself is for the sealed results alone.
 */
function refuse(
  log: Log,
  source: Source,
  { errors, output }: { readonly errors: ToolFailure["errors"]; readonly output: unknown },
): Result<never, ToolFailure> {
  const described = errors.slice(0, MOST_FIELDS).map((error) => {
    return `${error.field ?? "the output"}: ${error.message}`;
  });
  const detail = described.join("; ");
  log.write({ level: "error", code: "output_refused", ...aboutTool(source), mismatch: detail });
  const rawOutput = readRaw(source, output);
  return fail({ ...INVALID_OUTPUT.failure, detail, ...(rawOutput !== undefined && { rawOutput }) });
}

/** Reads an output of any form, without the secrets of the connection; undefined without JSON. */
function readRaw({ mask }: Source, output: unknown): JsonValue | undefined {
  try {
    const text = JSON.stringify(output);
    if (text === undefined || utf8Bytes(text) > MAX_KEPT_BYTES) return undefined;
    return mask(JSON.parse(text) as JsonValue);
  } catch {
    return undefined;
  }
}

function aboutTool({ tool }: Source): LogSubject {
  return { toolId: tool.id, toolVersion: tool.version };
}

/** Wrong fields that operators read of one output. */
const MOST_FIELDS = 3;

const INVALID_OUTPUT = failCall("invalid_output");

const MARKUP_REMOVED = "images, hidden characters or links were removed";
const HIDDEN_REMOVED = "hidden texts that were removed:";
const SECRET_MASKED = "a secret of the connection was masked";

/** Tells whether a warning says what normalising did to an output. */
export function isAboutNormalising(warning: string): boolean {
  return (
    warning === MARKUP_REMOVED ||
    warning === SECRET_MASKED ||
    [RESULT_CUT, HIDDEN_REMOVED].some((start) => warning.startsWith(`${start} `))
  );
}

function normalise(
  { log, policy }: Ports,
  source: Source,
  { value: output, content: given, details: told }: Returned,
): Result<NormalOutput, ToolFailure> {
  const { tool } = source;
  const valid = tool.validateOutput(output);
  const content = tool.readContent(given);
  if (!valid.ok) return refuse(log, source, { errors: valid.failure.errors, output });
  if (!content.ok) return refuse(log, source, { errors: content.failure.errors, output });
  const { maxResultBytes = Infinity } = policy.budgets;
  const shown = cleanForModel(source, {
    value: tool.redactOutput(valid.value),
    maxBytes: Math.min(tool.maxResultBytes, maxResultBytes),
  });
  if (!shown.ok) return shown;
  const expectation = expectState({ log }, source, valid.value);
  const details = told === undefined ? undefined : readShownDetails(log, source, told);
  const texts = content.value.flatMap((part) => (part.type === "text" ? [part.text] : []));
  if (texts.length === 0) {
    const { value: data, warnings } = shown.value;
    const whole = wholeOf(shown.value);
    const beside = { content: content.value, details, whole, warnings, expectation };
    return ok({ raw: valid.value, data, ...beside });
  }
  const read = cleanForModel(source, {
    value: { texts },
    maxBytes: Math.min(tool.maxTextBytes, maxResultBytes),
  });
  if (!read.ok) return read;
  const warnings = new Set([...shown.value.warnings, ...read.value.warnings]);
  return ok({
    raw: valid.value,
    data: shown.value.value,
    content: replaceTexts(content.value, read.value.value["texts"] as readonly string[]),
    details,
    whole: wholeOf(shown.value, read.value),
    warnings: [...warnings],
    expectation,
  });
}

/** Replaces the texts of content, in their order. A cut may have dropped the last ones. */
function replaceTexts(
  parts: readonly ContentPart[],
  texts: readonly string[],
): readonly ContentPart[] {
  const left = [...texts];
  return parts.flatMap((part): readonly ContentPart[] => {
    if (part.type === "image") return [part];
    const text = left.shift();
    return text === undefined ? [] : [{ type: "text", text }];
  });
}

/** What would be shown without the cuts; undefined when nothing was cut. */
function wholeOf(data: Cleaned, texts?: Cleaned): KeptResult | undefined {
  if (!data.uncut && !texts?.uncut) return undefined;
  const shown = texts && ((texts.uncut ?? texts.value)["texts"] as readonly string[]);
  return { kind: "whole", data: data.uncut ?? data.value, ...(shown && { texts: shown }) };
}

interface Cleaned {
  readonly value: JsonObject;
  /** The same before it was cut; absent when it was not. */
  readonly uncut?: JsonObject;
  readonly warnings: readonly string[];
}

/** Makes a value harmless and short. */
export function cleanForModel(
  { tool, mask }: Pick<Source, "tool" | "mask">,
  { value, maxBytes }: { readonly value: JsonObject; readonly maxBytes: number },
): Result<Cleaned, ToolFailure> {
  const warnings: string[] = [];
  let data = replaceHalves(value);
  if (tool.isOutputUntrusted) {
    const harmless = neutralise(data);
    if (harmless.changed) warnings.push(MARKUP_REMOVED);
    if (harmless.hidden > 0) warnings.push(`${HIDDEN_REMOVED} ${harmless.hidden}`);
    data = isJsonObject(harmless.value) ? harmless.value : {};
  }
  // After the cleaning, which may join the halves of a secret; before the cut, which may halve one.
  const shown = mask(data);
  if (shown !== data) warnings.push(SECRET_MASKED);
  if (utf8Bytes(JSON.stringify(shown)) <= maxBytes) return ok({ value: shown, warnings });
  const shorter = truncateResult(shown, maxBytes);
  if (!shorter) {
    const message = `the tool ran, but its output exceeds ${maxBytes} bytes`;
    return failCall("result_too_large", message);
  }
  warnings.push(
    `${RESULT_CUT} ${maxBytes} bytes: text ends with "${TRUNCATION_MARKER}", lists may be shorter`,
  );
  return ok({ value: shorter, uncut: shown, warnings });
}
