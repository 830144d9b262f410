import * as v from "valibot";

/*
 * A receiver that takes nothing but what OTLP/HTTP 1.x says of JSON: ids in lower-case hex of their
 * length, 64-bit integers as text, enums as numbers, and no field that its messages do not have.
 */

const hex = (digits: number) =>
  v.pipe(v.string(), v.regex(new RegExp(`^(?!0+$)[0-9a-f]{${digits}}$`)));
const traceId = hex(32);
const spanId = hex(16);
const uint64 = v.pipe(
  v.string(),
  v.regex(/^(?:0|[1-9]\d{0,19})$/),
  v.check((text) => BigInt(text) < 2n ** 64n),
);
const int64 = v.pipe(
  v.string(),
  v.regex(/^-?\d{1,19}$/),
  v.check((text) => BigInt.asIntN(64, BigInt(text)) === BigInt(text)),
);
const uint32 = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(2 ** 32 - 1));
const text = v.pipe(
  v.string(),
  v.check((one) => one.isWellFormed()),
);
const single = [
  v.strictObject({ stringValue: text }),
  v.strictObject({ boolValue: v.boolean() }),
  v.strictObject({ intValue: int64 }),
  v.strictObject({ doubleValue: v.pipe(v.number(), v.finite()) }),
] as const;
const value = v.union([
  ...single,
  v.strictObject({ arrayValue: v.strictObject({ values: v.array(v.union(single)) }) }),
]);
const attributes = v.pipe(
  v.array(v.strictObject({ key: v.pipe(text, v.minLength(1)), value })),
  v.check((list) => new Set(list.map(({ key }) => key)).size === list.length, "a key comes twice"),
);
const link = v.strictObject({
  traceId,
  spanId,
  traceState: v.optional(text),
  attributes: v.optional(attributes),
  droppedAttributesCount: v.optional(uint32),
  flags: v.optional(uint32),
});
const span = v.pipe(
  v.strictObject({
    traceId,
    spanId,
    traceState: v.optional(text),
    parentSpanId: v.optional(spanId),
    flags: v.optional(uint32),
    name: v.pipe(text, v.minLength(1)),
    kind: v.picklist([1, 2, 3, 4, 5]),
    startTimeUnixNano: uint64,
    endTimeUnixNano: uint64,
    attributes: v.optional(attributes),
    droppedAttributesCount: v.optional(uint32),
    links: v.optional(v.array(link)),
    droppedLinksCount: v.optional(uint32),
    status: v.optional(
      v.strictObject({ message: v.optional(text), code: v.optional(v.picklist([0, 1, 2])) }),
    ),
  }),
  v.check((one) => BigInt(one.startTimeUnixNano) <= BigInt(one.endTimeUnixNano), "ends too early"),
);
const request = v.strictObject({
  resourceSpans: v.array(
    v.strictObject({
      resource: v.strictObject({ attributes }),
      scopeSpans: v.array(
        v.strictObject({
          scope: v.strictObject({ name: text, version: v.optional(text) }),
          spans: v.array(span),
        }),
      ),
    }),
  ),
});

export type OtlpSpan = v.InferOutput<typeof span>;

/** A span as tests read it. */
export interface ReadSpan {
  readonly traceId: string;
  readonly id: string;
  readonly parent: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly string[];
  readonly status: number | undefined;
}

/** Reads one request of spans. Fails: throws what is wrong with it. */
export function readOtlp(body: string): {
  readonly service: unknown;
  readonly spans: readonly ReadSpan[];
} {
  const { resourceSpans } = v.parse(request, JSON.parse(body));
  const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((one) => one.spans));
  const ids = spans.map(({ spanId: id }) => id);
  if (new Set(ids).size !== ids.length) throw new Error("a span id comes twice");
  const resource = toRecord(resourceSpans[0]?.resource.attributes);
  return { service: resource["service.name"], spans: spans.map(toRead) };
}

function toRead(one: OtlpSpan): ReadSpan {
  return {
    traceId: one.traceId,
    id: one.spanId,
    parent: one.parentSpanId,
    name: one.name,
    kind: one.kind,
    startMs: Number(BigInt(one.startTimeUnixNano) / 1_000_000n),
    endMs: Number(BigInt(one.endTimeUnixNano) / 1_000_000n),
    attributes: toRecord(one.attributes),
    links: (one.links ?? []).map((linked) => `${linked.traceId} ${linked.spanId}`),
    status: one.status?.code,
  };
}

function toRecord(list: v.InferOutput<typeof attributes> = []): Record<string, unknown> {
  return Object.fromEntries(list.map((one) => [one.key, toPlain(one.value)]));
}

function toPlain(one: v.InferOutput<typeof value>): unknown {
  if ("arrayValue" in one) return one.arrayValue.values.map(toPlain);
  if ("intValue" in one) return Number(one.intValue);
  return Object.values(one)[0];
}
