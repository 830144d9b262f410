import type { ModelFailure } from "../../protocol/model/event.ts";
import type { ModelChangeReason } from "../../protocol/run/event.ts";

/** Tells whether the provider sent no answer, so that nothing was used. */
export function isRefusal({ code }: ModelFailure): boolean {
  return REFUSALS.has(code);
}

const REFUSALS: ReadonlySet<ModelFailure["code"]> = new Set([
  "upstream_status",
  "upstream_unreachable",
  "upstream_not_configured",
  "provider_missing",
  "provider_unreadable",
]);

/** Tells whether the same call may succeed later. */
export function isTransient(failure: ModelFailure): boolean {
  switch (failure.code) {
    case "upstream_unreachable":
    case "upstream_truncated":
    case "upstream_stalled":
    // The storage may not have answered.
    case "provider_unreadable":
      return true;
    case "upstream_status":
      return isTransientStatus(failure.status ?? 0);
    case "upstream_not_configured":
    case "provider_missing":
    case "upstream_not_a_stream":
    case "upstream_error_event":
    case "upstream_malformed":
    case "upstream_ambiguous":
    case "upstream_wrong_wire":
    case "upstream_too_large":
    case "aborted":
      return false;
  }
}

/**
 * Timeout, too early, too many requests, or an error of the provider. Other refusals would repeat.
 */
function isTransientStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

const RETIRED: ReadonlySet<number> = new Set([404, 410]);
/** 529 is Anthropic's word for an overload. */
const OVERLOADED: ReadonlySet<number> = new Set([429, 503, 529]);

/**
 * Tells why another model should answer; undefined when another model would not help, or would
 * hide a mistake such as a wrong key.
 */
export function changeReasonOf(failure: ModelFailure): ModelChangeReason | undefined {
  const { code, status = 0 } = failure;
  if (code === "provider_unreadable") return undefined;
  if (code === "upstream_status" && RETIRED.has(status)) return "retired";
  if (code === "upstream_status" && OVERLOADED.has(status)) return "overloaded";
  if (code === "upstream_unreachable" || code === "upstream_stalled") return "unreachable";
  // Providers report an overload also inside a stream.
  const isBroken = code === "upstream_error_event" || code === "upstream_ambiguous";
  const isFailing = isBroken || isTransient(failure);
  return isFailing ? "failing" : undefined;
}
