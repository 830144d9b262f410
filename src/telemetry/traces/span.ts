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

/** Writes spans of one trace as JSON, with commas between; see `toOtlpJson`. */
export function toSpansJson(traceId: string, spans: readonly Span[]): string {
  return spans.map((span) => JSON.stringify(toSpan(traceId, span))).join(",");
}

/**
 * Writes the spans of some runs as the JSON of OTLP/HTTP 1.x: ids in hex, integers and nanoseconds
 * as text (https://opentelemetry.io/docs/specs/otlp/, read 2026-11-28).
 */
export function toOtlpJson(spans: readonly string[], { service, version }: SpanSource): string {
  const resource = JSON.stringify({ attributes: toAttributes({ "service.name": service }) });
  const scope = JSON.stringify({ name: "interlock-edge", version });
  const scopeSpans = `[{"scope":${scope},"spans":[${spans.join(",")}]}]`;
  return `{"resourceSpans":[{"resource":${resource},"scopeSpans":${scopeSpans}}]}`;
}

function toSpan(traceId: string, span: Span): object {
  const { id, parentId, name, kind, startMs, endMs, attributes, linkedId } = span;
  return {
    traceId,
    spanId: id,
    parentSpanId: parentId,
    name,
    kind,
    startTimeUnixNano: toNanos(startMs),
    // No later step of a clock ends a span before its start.
    endTimeUnixNano: toNanos(Math.max(startMs, endMs)),
    attributes: toAttributes(attributes),
    ...(linkedId !== undefined && { links: [{ traceId, spanId: linkedId }] }),
    ...(attributes["error.type"] !== undefined && { status: { code: STATUS_ERROR } }),
  };
}

function toNanos(ms: number): string {
  return `${Math.floor(ms)}000000`;
}

function toAttributes(attributes: Attributes): readonly object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: toValue(value) }],
  );
}

function toValue(value: NonNullable<AttributeValue>): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value !== "number") return { arrayValue: { values: value.map(toValue) } };
  return Number.isSafeInteger(value) ? { intValue: `${value}` } : { doubleValue: value };
}
