import type { RunId } from "../../protocol/identity/ids.ts";
import { hashText } from "../../protocol/json/canonical-hash.ts";
import type { RunClaim } from "../../protocol/run/claim.ts";

/** The place of a run in its trace. Ids are lower-case hex. */
export interface RunTrace {
  readonly traceId: string;
  /** Of the first span of the run; absent where a trace begins with it. */
  readonly parentId?: string | undefined;
  /** The span of the call that the run undoes. */
  readonly undoneId?: string;
  readonly spanId: (part: SpanPart, number?: number) => string;
}

/** What a span is about, and what counts the spans of that kind. */
export type SpanPart =
  | "run"
  /** By step. */
  | "chat"
  /** By the event part that shows the call. */
  | "call"
  /** By invocation and request. */
  | "wait";

const PARTS: readonly SpanPart[] = ["run", "chat", "call", "wait"];
/** More than a run has spans of one kind. */
const SPANS_OF_PART = 2 ** 48;

/** What of a claim says where its run belongs. */
export type TracedClaim = Pick<RunClaim, "runId" | "trace" | "call">;

/**
 * Derives the trace of a run and the ids of its spans, so that spans that are sent again are the
 * same spans. A run that undoes a call is part of the trace of that call.
 */
export async function traceOf({ runId, trace, call }: TracedClaim): Promise<RunTrace> {
  const own = await idsOf(runId);
  const { undoes } = call ?? {};
  const undone = undoes && (await idsOf(undoes.runId));
  const [, sentTraceId, sentSpanId] = (undoes ? undoes.trace : trace)?.split("-") ?? [];
  return {
    traceId: sentTraceId ?? (undone ?? own).traceId,
    parentId: undone ? undone.spanId("run") : sentSpanId,
    ...(undone && { undoneId: undone.spanId("call", undoes?.part) }),
    spanId: own.spanId,
  };
}

async function idsOf(runId: RunId): Promise<Pick<RunTrace, "traceId" | "spanId">> {
  const [, hex = ""] = (await hashText(runId)).split(":");
  const first = BigInt(`0x${hex.slice(32, 48)}`);
  return {
    traceId: hex.slice(0, 32),
    spanId: (part, number = 0) => {
      const offset = PARTS.indexOf(part) * SPANS_OF_PART + number;
      return BigInt.asUintN(64, first + BigInt(offset))
        .toString(16)
        .padStart(16, "0");
    },
  };
}

/** Version 00 of https://www.w3.org/TR/trace-context/ (read 2026-11-28); no id is all zeros. */
const TRACEPARENT = /^00-(?!0+-)[\da-f]{32}-(?!0+-)[\da-f]{16}-[\da-f]{2}$/;

/**
 * Reads `traceparent`; undefined unless it is valid. Threat: it comes from a client. So its flags
 * do not decide whether a run is traced, and `tracestate` is never read.
 */
export function readTraceparent(headers: Headers): string | undefined {
  const sent = headers.get("traceparent") ?? "";
  return TRACEPARENT.test(sent) ? sent : undefined;
}

/** Writes `traceparent` for what a span asks of another service. */
export function formatTraceparent(traceId: string, spanId: string): string {
  return `00-${traceId}-${spanId}-01`;
}
