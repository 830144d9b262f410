import { schemaAt } from "../../../src/protocol/tool/schema-path.ts";
import type { JsonValue } from "../../../src/protocol/json/value.ts";
import type { Verdict } from "./contract-change.ts";
import {
  atLeast,
  atMost,
  entries,
  fixed,
  maySteps,
  mayBecome,
  members,
  wording,
  type ContractRule,
} from "./contract-rule.ts";

const breaking = (what: string): Verdict => ({ kind: "breaking", what });
const compatible = (what: string): Verdict => ({ kind: "compatible", what });

/** A sunset date may appear with a deprecation and may move later. It may not move earlier. */
const sunsetDate: ContractRule = ({ before, after }, { current }) => {
  if (after === null) return [compatible("no sunset date any more")];
  if (typeof after !== "string") return [breaking("the sunset date is no date")];
  if (typeof before !== "string") {
    return current.contract.identity.lifecycle.status === "active"
      ? [breaking("a sunset date without a deprecation")]
      : [compatible("a sunset date")];
  }
  const isLater = Date.parse(after) > Date.parse(before);
  return [isLater ? compatible("the sunset is put off") : breaking("the sunset comes nearer")];
};

/** A field that is new in this change was never shown before. */
const shownArguments: ContractRule = members({
  added: (path, { locked, current }) => {
    const has = ({ contract }: typeof locked): boolean =>
      schemaAt(contract.affordance.input_schema, pathOf(path)) !== undefined;
    return !has(locked) && has(current)
      ? compatible("a new argument is shown:")
      : breaking("an argument leaves the runner that was redacted:");
  },
  removed: breaking("an argument is redacted that was shown:"),
});

function pathOf(path: JsonValue): readonly string[] {
  return typeof path === "string" ? path.split(".") : [];
}

const codes = (list: string): ContractRule =>
  members({
    added: compatible(`${list} errors have one more:`),
    removed: breaking(`no longer among the ${list} errors:`),
  });

const unordered = (what: string): ContractRule =>
  members({ added: breaking(`${what} added:`), removed: breaking(`${what} removed:`) });

/** Functions that only change texts for people. */
const WORDS: ReadonlySet<JsonValue> = new Set(["describe", "preview"]);

/**
 * Rules for every field of a published contract except schemas; docs/contracts.md gives the reasons
 * (seeds/004, "Tool Versioning and Behavior Drift"). A field without a rule counts as breaking.
 */
export const CONTRACT_RULES: ReadonlyMap<string, ContractRule> = new Map<string, ContractRule>([
  ["/contract/identity/owner", wording("another owner")],
  [
    "/contract/identity/lifecycle/status",
    maySteps(
      [
        ["active", "deprecated"],
        ["deprecated", "sunsetted"],
      ],
      "lifecycle moves on",
      "lifecycle goes active, deprecated, sunsetted and no other way",
    ),
  ],
  ["/contract/identity/lifecycle/sunset_date", sunsetDate],
  ["/contract/identity/lifecycle/replacement", wording("another replacement")],
  ["/contract/affordance/model_description", wording("description reworded")],
  ["/contract/affordance/allowed_use_cases", wording("use cases reworded")],
  ["/contract/affordance/forbidden_use_cases", wording("use cases reworded")],
  ["/contract/affordance/examples", wording("other examples")],
  ["/contract/runtime/timeout_ms", atLeast("less time to finish", "more time to finish")],
  [
    "/contract/runtime/rate_limits/max_requests",
    atLeast("fewer calls allowed", "more calls allowed"),
  ],
  [
    "/contract/runtime/rate_limits/window_sec",
    atMost(
      "the same number of calls for a longer time",
      "the same number of calls for a shorter time",
    ),
  ],
  ["/contract/runtime/cost_profile/currency", fixed("costs another currency")],
  ["/contract/runtime/cost_profile/cost_unit", fixed("costs by another unit")],
  ["/contract/runtime/cost_profile/cost_per_call", atMost("costs more", "costs less")],
  [
    "/contract/runtime/sandbox_isolated",
    mayBecome(true, "runs isolated now", "no longer runs isolated"),
  ],
  ["/contract/runtime/max_retries", atLeast("retried less often", "retried more often")],
  ["/contract/security/required_scopes", unordered("a scope that callers need is")],
  ["/contract/security/tenant_scoped", fixed("tenant scope changed")],
  ["/contract/security/secrets_boundary", fixed("secrets are held elsewhere")],
  ["/contract/security/data_classification", fixed("another class of data")],
  ["/contract/security/egress_policy", mayBecome("none", "no egress any more", "other egress")],
  ["/contract/transactional/side_effect_class", fixed("another side-effect class")],
  ["/contract/transactional/confirmation_required", fixed("confirmation changed")],
  ["/contract/transactional/semantics", fixed("other semantics")],
  ["/contract/transactional/compensation_tool", fixed("undone by another tool")],
  ["/contract/transactional/post_action_verification_required", fixed("verification changed")],
  ["/contract/idempotency/supported", fixed("idempotency changed")],
  ["/contract/idempotency/required", fixed("idempotency changed")],
  ["/contract/idempotency/key_header", fixed("idempotency changed")],
  ["/contract/idempotency/ttl_seconds", fixed("idempotency changed")],
  ["/contract/idempotency/payload_hash_required", fixed("idempotency changed")],
  ["/contract/observability/trace_attributes", unordered("a trace attribute is")],
  ["/contract/observability/audit_required", mayBecome(true, "audited now", "no longer audited")],
  [
    "/contract/observability/error_taxonomy_mapping",
    entries("a new error:", "an error is removed:", "an error has another class:"),
  ],
  ["/contract/error_contract/repairable_errors", codes("repairable")],
  ["/contract/error_contract/retryable_errors", codes("retryable")],
  ["/contract/error_contract/fail_closed_errors", codes("fail-closed")],
  ["/contract/error_contract/escalation_errors", codes("escalation")],
  ["/interlock/effect", fixed("another effect")],
  ["/interlock/redaction/args", shownArguments],
  [
    "/interlock/redaction/output",
    members({
      added: breaking("a field leaves the runner that was redacted:"),
      removed: breaking("a field is redacted that was shown:"),
    }),
  ],
  [
    "/interlock/redaction/details",
    members({
      added: breaking("people are shown details that were redacted:"),
      removed: compatible("people are no longer shown the details:"),
    }),
  ],
  ["/interlock/details", fixed("other details for people")],
  [
    "/interlock/redaction/state",
    members({
      added: breaking("people are shown a field of the state that was redacted:"),
      removed: compatible("people are no longer shown the state's field:"),
    }),
  ],
  [
    "/interlock/parallel",
    mayBecome(false, "no longer runs beside others", "runs beside others now"),
  ],
  ["/interlock/title", wording("another title")],
  ["/interlock/category", wording("another category")],
  ["/interlock/shown_to_model", fixed("models see it or no longer do")],
  ["/interlock/steps", fixed("other steps")],
  ["/interlock/requires_connection", fixed("the need of a connection changed")],
  ["/interlock/untrusted_output", fixed("trust in its output changed")],
  ["/interlock/amount_field", fixed("the amount is read elsewhere")],
  ["/interlock/may_drift", fixed("other fields may change after an approval")],
  [
    "/interlock/capabilities",
    members({
      added: breaking("may touch more:"),
      removed: compatible("no longer touches:"),
    }),
  ],
  [
    "/interlock/egress_hosts",
    members({
      added: breaking("may reach more:"),
      removed: compatible("no longer reaches:"),
    }),
  ],
  ["/interlock/workspace", fixed("another workspace")],
  ["/interlock/verification_delay_seconds", fixed("its state is verified after another time")],
  [
    "/interlock/upstreams",
    members({
      added: breaking("may reach more:"),
      removed: compatible("no longer reaches:"),
    }),
  ],
  [
    "/interlock/progress_stages",
    members({
      added: breaking("readers meet a new stage:"),
      removed: compatible("no longer has the stage:"),
    }),
  ],
  ["/interlock/max_arguments_bytes", atLeast("shorter arguments", "longer arguments")],
  ["/interlock/content", fixed("another content beside the data")],
  ["/interlock/max_result_bytes", fixed("another limit of the result")],
  ["/interlock/retry_for_ms", atLeast("retried for a shorter time", "retried for a longer time")],
  [
    "/interlock/rules",
    members({
      added: breaking("calls that were accepted may be refused by"),
      removed: compatible("no longer refuses by"),
    }),
  ],
  [
    "/interlock/optional",
    members({
      added: (name) =>
        WORDS.has(name)
          ? compatible("people are told more before they approve, by")
          : breaking("a function of its author is added:"),
      removed: breaking("a function of its author is removed:"),
    }),
  ],
]);
