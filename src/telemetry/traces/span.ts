/** The value of an attribute. Undefined: the span has no such attribute. */
export type AttributeValue = string | number | boolean | readonly string[] | undefined;
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** Kinds of spans, as OTLP numbers them. */
export const INTERNAL = 1;
export const CLIENT = 3;

/** One span, without the trace that all spans of a run share. Unit of times: Unix milliseconds. */
export interface Span {
  readonly id: string;
  readonly parentId?: string | undefined;
  readonly name: string;
  readonly kind: typeof INTERNAL | typeof CLIENT;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  /** A span of the same trace that this one refers to. */
  readonly linkedId?: string | undefined;
}

/** Who sends spans. */
export interface SpanSource {
  readonly service: string;
  readonly version: string;
}

const STATUS_ERROR = 2;

/**
 * Writes spans of one trace as JSON, with commas between; see `toOtlpJson`. It writes text at once,
 * because objects for it would take twice the time. Ids are hex.
 */
export function toSpansJson(traceId: string, spans: readonly Span[]): string {
  return spans.map((span) => writeSpan(traceId, span)).join(",");
}

/**
 * Writes the spans of some runs as the JSON of OTLP/HTTP 1.x: ids in hex, integers and nanoseconds
 * as text (https://opentelemetry.io/docs/specs/otlp/, read 2026-11-28).
 */
export function toOtlpJson(spans: readonly string[], { service, version }: SpanSource): string {
  const resource = `{"attributes":[${writeAttributes({ "service.name": service })}]}`;
  const scope = JSON.stringify({ name: "interlock-edge", version });
  const scopeSpans = `[{"scope":${scope},"spans":[${spans.join(",")}]}]`;
  return `{"resourceSpans":[{"resource":${resource},"scopeSpans":${scopeSpans}}]}`;
}

function writeSpan(traceId: string, span: Span): string {
  const { id, parentId, name, kind, startMs, endMs, attributes, linkedId } = span;
  const fields = [
    `"traceId":"${traceId}","spanId":"${id}","name":${JSON.stringify(name)},"kind":${kind}`,
    `"startTimeUnixNano":"${toNanos(startMs)}"`,
    // No later step of a clock ends a span before its start.
    `"endTimeUnixNano":"${toNanos(Math.max(startMs, endMs))}"`,
    `"attributes":[${writeAttributes(attributes)}]`,
  ];
  if (parentId !== undefined) fields.push(`"parentSpanId":"${parentId}"`);
  if (linkedId !== undefined) {
    fields.push(`"links":[{"traceId":"${traceId}","spanId":"${linkedId}"}]`);
  }
  if (attributes["error.type"] !== undefined) fields.push(`"status":{"code":${STATUS_ERROR}}`);
  return `{${fields.join(",")}}`;
}

function toNanos(ms: number): string {
  return `${Math.floor(ms)}000000`;
}

function writeAttributes(attributes: Attributes): string {
  let written = "";
  for (const key of Object.keys(attributes)) {
    const { [key]: value } = attributes;
    if (value === undefined) continue;
    const comma = written === "" ? "" : ",";
    written += `${comma}{"key":${JSON.stringify(key)},"value":${writeValue(value)}}`;
  }
  return written;
}

function writeValue(value: NonNullable<AttributeValue>): string {
  if (typeof value === "string") return `{"stringValue":${JSON.stringify(value)}}`;
  if (typeof value === "boolean") return `{"boolValue":${value}}`;
  if (typeof value !== "number")
    return `{"arrayValue":{"values":[${value.map(writeValue).join(",")}]}}`;
  return Number.isSafeInteger(value)
    ? `{"intValue":"${value}"}`
    : `{"doubleValue":${JSON.stringify(value)}}`;
}
