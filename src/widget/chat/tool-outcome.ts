import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json/value.ts";

/** One labelled value of arguments or of a result, ready to be read. */
export interface Field {
  readonly label: string;
  readonly value: string;
}

/** What came of a tool call, read from an untrusted observation. */
export interface ToolOutcome {
  readonly fields: readonly Field[];
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  /** Nobody knows whether the call did anything. */
  readonly isUnknown: boolean;
}

/** How far a running call is, in numbers that fit together and a word of its contract. */
export interface ToolProgress {
  readonly stage?: string;
  /** From 0 to 1. */
  readonly share?: number;
  readonly attempt?: number;
}

const MAX_FIELDS = 60;
const MAX_DEPTH = 6;
const MAX_VALUE_CHARS = 10_000;

/** Reads an ObservationObject; whatever does not look like one gives fields of what is there. */
export function readOutcome(observation: JsonValue): ToolOutcome {
  const payload = isJsonObject(observation) ? own(observation, "result_payload") : undefined;
  if (!isJsonObject(payload)) {
    return { fields: readFields(observation), errors: [], warnings: [], isUnknown: false };
  }
  const errors = list(own(payload, "errors"));
  return {
    fields: readFields(own(payload, "data") ?? null),
    errors: errors.map(describeError),
    warnings: list(own(payload, "warnings")).filter((warning) => typeof warning === "string"),
    isUnknown: errors.some((error) => isJsonObject(error) && error["code"] === "outcome_unknown"),
  };
}

const MAX_STAGE_CHARS = 60;

/** Reads a tool's progress; numbers that do not fit together are left out. */
export function readProgress({ stage, done, total, attempt }: JsonObject): ToolProgress {
  const isCounted = typeof done === "number" && typeof total === "number" && total > 0;
  return {
    ...(typeof stage === "string" && { stage: sentence(stage).slice(0, MAX_STAGE_CHARS) }),
    ...(isCounted && { share: Math.min(1, Math.max(0, done / total)) }),
    ...(typeof attempt === "number" && attempt > 1 && { attempt }),
  };
}

/** Reads the fields of an object; nested ones are named by their path. */
export function readFields(value: JsonValue): readonly Field[] {
  const fields: Field[] = [];
  collect(value, { path: [], fields });
  if (fields.length <= MAX_FIELDS) return fields;
  return [...fields.slice(0, MAX_FIELDS), { label: "…", value: "More fields are not shown." }];
}

/** Turns `core__get_current_time` into "Get current time". */
export function friendlyName(id: string): string {
  return sentence(id.slice(id.lastIndexOf("__") + 1)) || id || "Tool";
}

/** Turns `time_zone` and `timeZone` into "Time zone". */
function sentence(name: string): string {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .replaceAll(/[_\-.\s]+/g, " ")
    .trim()
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

interface Collector {
  readonly path: readonly string[];
  readonly fields: Field[];
}

function collect(value: JsonValue, { path, fields }: Collector): void {
  if (fields.length > MAX_FIELDS) return;
  const isNested = typeof value === "object" && value !== null && path.length < MAX_DEPTH;
  const entries = isNested ? Object.entries(value) : [];
  if (isNested && Array.isArray(value) && value.every((item) => typeof item !== "object")) {
    fields.push({ label: labelOf(path), value: shorten(value.join(", ")) });
  } else if (isNested && entries.length > 0) {
    for (const [key, item] of entries) {
      const step = Array.isArray(value) ? String(Number(key) + 1) : key;
      collect(item, { path: [...path, step], fields });
    }
  } else if (path.length > 0 || !isNested) {
    if (path.length === 0 && value === null) return;
    fields.push({ label: labelOf(path), value: shorten(describe(value)) });
  }
}

function labelOf(path: readonly string[]): string {
  return path.length === 0 ? "Value" : path.map((key) => sentence(key) || key).join(" › ");
}

function describe(value: JsonValue): string {
  if (typeof value === "string") return value === "" ? "(empty)" : value;
  if (typeof value === "boolean") return value ? "Yes" : "No";
  return value === null ? "None" : JSON.stringify(value);
}

function shorten(text: string): string {
  return text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS)}…` : text;
}

function describeError(error: JsonValue): string {
  if (!isJsonObject(error)) return shorten(describe(error));
  const message = own(error, "message");
  const field = own(error, "field");
  const text = typeof message === "string" && message !== "" ? message : "The call failed.";
  if (typeof field !== "string" || field === "") return shorten(text);
  const path = field.split("/").filter((key) => key !== "");
  return shorten(`${labelOf(path)}: ${text}`);
}

function list(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value.slice(0, MAX_FIELDS) : [];
}

/** Keys are untrusted: `__proto__` must not answer for a missing one. */
function own(object: { readonly [key: string]: JsonValue }, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
