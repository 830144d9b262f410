import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { diffContracts } from "../../cli/contracts/diff/diff-contracts.ts";
import type { PublishedContract } from "../../src/contracts/catalog/published-contract.ts";
import { publishContract } from "../../src/contracts/catalog/published-contract.ts";
import { registerContracts } from "../../src/contracts/check/register.ts";
import { TOOLS } from "../../src/tools/index.ts";
import { isJsonObject, type JsonValue } from "../../src/protocol/json/value.ts";
import { PUBLISHED, withValue } from "./published.ts";

const INPUT = "/contract/affordance/input_schema";
const string = { type: "string" };
const fields = (more: object): JsonValue => ({
  ...(PUBLISHED.contract.affordance.input_schema["properties"] as object),
  ...more,
});

/** Each row holds there and back: where, one value, another value, breaking or compatible. */
const ROWS: readonly [pointer: string, before: JsonValue, after: JsonValue, expected: string][] = [
  ["/contract/identity/owner", "bank", "treasury", "c c"],
  ["/contract/identity/lifecycle/status", "active", "deprecated", "c B"],
  ["/contract/identity/lifecycle/status", "deprecated", "sunsetted", "c B"],
  ["/contract/identity/lifecycle/status", "active", "sunsetted", "B B"],
  ["/contract/identity/lifecycle/sunset_date", "2027-01-01", "2027-06-01", "c B"],
  ["/contract/identity/lifecycle/sunset_date", "2027-01-01", null, "c c"],
  ["/contract/identity/lifecycle/replacement", null, "bank__pay", "c c"],
  ["/contract/affordance/model_description", "Moves money.", "Moves money now.", "c c"],
  ["/contract/affordance/allowed_use_cases", ["a"], ["b"], "c c"],
  ["/contract/affordance/forbidden_use_cases", [], ["b"], "c c"],
  ["/contract/affordance/examples", [], [{ description: "x", arguments: {} }], "c c"],
  [`${INPUT}/properties`, fields({}), fields({ note: string }), "c B"],
  [`${INPUT}/properties/amount/maximum`, 10, 20, "c B"],
  ["/contract/affordance/output_schema/properties/receipt/enum", ["a"], ["a", "b"], "B c"],
  ["/contract/runtime/timeout_ms", 10_000, 20_000, "c B"],
  ["/contract/runtime/rate_limits/max_requests", 60, 120, "c B"],
  ["/contract/runtime/rate_limits/window_sec", 60, 120, "B c"],
  ["/contract/runtime/cost_profile/currency", "EUR", "USD", "B B"],
  ["/contract/runtime/cost_profile/cost_unit", "call", "token", "B B"],
  ["/contract/runtime/cost_profile/cost_per_call", 1, 2, "B c"],
  ["/contract/runtime/sandbox_isolated", false, true, "c B"],
  ["/contract/runtime/max_retries", 1, 2, "c B"],
  ["/contract/security/required_scopes", ["a"], ["a", "b"], "B B"],
  ["/contract/security/required_scopes", ["a", "b"], ["b", "a"], "c c"],
  ["/contract/security/tenant_scoped", true, false, "B B"],
  ["/contract/security/secrets_boundary", "none", "gateway_injected", "B B"],
  ["/contract/security/data_classification", "internal", "secret", "B B"],
  ["/contract/security/egress_policy", "none", "allowlisted_domains", "B c"],
  ["/contract/security/egress_policy", "private_network_only", "allowlisted_domains", "B B"],
  ["/contract/transactional/side_effect_class", "READ_ONLY", "LOW_RISK_INTERNAL", "B B"],
  ["/contract/transactional/confirmation_required", true, false, "B B"],
  ["/contract/transactional/semantics", "compensable_write", "irreversible_pivot", "B B"],
  ["/contract/transactional/compensation_tool", "bank__refund", null, "B B"],
  ["/contract/transactional/post_action_verification_required", true, false, "B B"],
  ["/contract/idempotency/supported", true, false, "B B"],
  ["/contract/idempotency/required", true, false, "B B"],
  ["/contract/idempotency/key_header", "Idempotency-Key", null, "B B"],
  ["/contract/idempotency/ttl_seconds", 60, 120, "B B"],
  ["/contract/idempotency/payload_hash_required", true, false, "B B"],
  ["/contract/observability/trace_attributes", ["a"], ["a", "b"], "B B"],
  ["/contract/observability/audit_required", false, true, "c B"],
  ["/contract/observability/error_taxonomy_mapping", { a: "TIMEOUT" }, {}, "B c"],
  [
    "/contract/observability/error_taxonomy_mapping",
    { a: "TIMEOUT" },
    { a: "RATE_LIMITED" },
    "B B",
  ],
  ["/contract/error_contract/repairable_errors", [], ["STALE_STATE"], "c B"],
  ["/contract/error_contract/retryable_errors", [], ["RATE_LIMITED"], "c B"],
  ["/contract/error_contract/fail_closed_errors", [], ["UNKNOWN_ERROR"], "c B"],
  ["/contract/error_contract/escalation_errors", [], ["TIMEOUT"], "c B"],
  ["/interlock/effect", "read_only", "state_change", "B B"],
  ["/interlock/redaction/args", ["amount"], ["amount", "target.iban"], "B B"],
  ["/interlock/redaction/output", [], ["receipt"], "B B"],
  ["/interlock/parallel", false, true, "B c"],
  ["/interlock/steps", ["a__one"], ["a__one", "a__two"], "B B"],
  ["/interlock/shown_to_model", true, false, "B B"],
  ["/interlock/requires_connection", false, true, "B B"],
  ["/interlock/untrusted_output", false, true, "B B"],
  ["/interlock/amount_field", null, "/amount", "B B"],
  ["/interlock/amount_field", "/amount", { preview: "/after/amount" }, "B B"],
  ["/interlock/details", { type: "object" }, { type: "object", title: "more" }, "B B"],
  ["/interlock/redaction/details", ["rows"], ["rows", "keeper"], "B c"],
  ["/interlock/may_drift", {}, { queue: "it decides nothing" }, "B B"],
  ["/interlock/capabilities", ["clock"], ["clock", "auth"], "B c"],
  ["/interlock/egress_hosts", ["a.example"], ["a.example", "b.example"], "B c"],
  ["/interlock/upstreams", ["desk"], ["desk", "ledger"], "B c"],
  ["/interlock/progress_stages", ["a"], ["a", "b"], "B c"],
  ["/interlock/max_arguments_bytes", 8192, 16_384, "c B"],
  [
    "/interlock/content",
    { max_images: 1, max_image_bytes: 9, max_text_bytes: 0 },
    { max_images: 2, max_image_bytes: 9, max_text_bytes: 0 },
    "B B",
  ],
  ["/interlock/max_result_bytes", 8192, 16_384, "B B"],
  ["/interlock/rules", [], ["positive"], "B c"],
  ["/interlock/optional", [], ["reconcile"], "B B"],
  ["/interlock/optional", [], ["describe", "preview"], "c B"],
];

function judge(locked: PublishedContract, current: PublishedContract): string {
  const changes = diffContracts(locked, current);
  expect(changes).not.toEqual([]);
  return changes.some(({ kind }) => kind === "breaking") ? "B" : "c";
}

describe("a change of a contract", () => {
  test.each(ROWS)("%s: %j -> %j", (pointer, before, after, expected) => {
    // A deprecated contract, for a sunset date comes with that.
    const base = withValue(PUBLISHED, "/contract/identity/lifecycle/status", "deprecated");
    const [one, other] = [withValue(base, pointer, before), withValue(base, pointer, after)];
    expect(`${judge(one, other)} ${judge(other, one)}`).toBe(expected);
    expect(diffContracts(one, other)[0]?.sentence).toContain(pointer);
  });

  test("an active contract gets no sunset date", () => {
    const dated = withValue(PUBLISHED, "/contract/identity/lifecycle/sunset_date", "2027-01-01");
    expect(judge(PUBLISHED, dated)).toBe("B");
  });

  test("is reported with its place, its meaning, the old value and the new value", () => {
    const changed = withValue(PUBLISHED, "/contract/security/required_scopes", [
      "bank:write",
      "bank:pay",
    ]);
    expect(diffContracts(PUBLISHED, changed)).toEqual([
      {
        kind: "breaking",
        pointer: "/contract/security/required_scopes",
        sentence:
          '/contract/security/required_scopes: a scope that callers need is added: "bank:pay": ' +
          '["bank:write"] -> ["bank:write","bank:pay"]',
      },
    ]);
  });

  test("may show a new argument in a redaction, and no existing one", () => {
    const shown = withValue(PUBLISHED, "/interlock/redaction/args", ["amount", "note"]);
    expect(judge(PUBLISHED, shown)).toBe("B");
    expect(
      judge(PUBLISHED, withValue(shown, `${INPUT}/properties`, fields({ note: string }))),
    ).toBe("c");
  });

  test.each([
    ["a field that nobody knows", "/interlock/colour", "red"],
    ["a section that nobody knows", "/contract/weather", { sun: true }],
    ["a field that is gone", "/contract/security/tenant_scoped", undefined],
    ["a section that is gone", "/contract/idempotency", undefined],
    ["a number that is none", "/contract/runtime/timeout_ms", "20000"],
    ["a list that is none", "/interlock/capabilities", "auth"],
    ["a table that is none", "/contract/observability/error_taxonomy_mapping", []],
    ["a date that is none", "/contract/identity/lifecycle/sunset_date", "soon"],
    ["a schema that is none", INPUT, []],
    ["a hash that differs alone", "/interlock/schema_hash", "sha256:2"],
    ["the hash of all that differs alone", "/interlock/contract_hash", "sha256:2"],
  ])("is breaking when it is %s", (_name, pointer, value) => {
    const base = withValue(PUBLISHED, "/contract/identity/lifecycle/sunset_date", "2027-01-01");
    expect(judge(base, withValue(base, pointer, value as JsonValue))).toBe("B");
  });
});

describe("of the contracts in the code", async () => {
  const published = await Promise.all(registerContracts(TOOLS).map(publishContract));
  const all = [PUBLISHED, ...published];
  const anyContract = fc.constantFrom(...all);

  test("none differs from itself", () => {
    for (const contract of all)
      expect(diffContracts(contract, structuredClone(contract))).toEqual([]);
  });

  test("any other value in any field is reported", () => {
    const anyMutation = anyContract.chain((contract) =>
      fc.tuple(fc.constant(contract), fc.constantFrom(...leavesOf(contract)), fc.jsonValue()),
    );
    fc.assert(
      fc.property(anyMutation, ([contract, pointer, value]) => {
        const mutated = withValue(
          contract,
          pointer,
          JSON.parse(JSON.stringify(value)) as JsonValue,
        );
        if (pointer === "/contract/identity/version") return;
        const isSame = JSON.stringify(mutated) === JSON.stringify(contract);
        expect(diffContracts(contract, mutated).length > 0).toBe(!isSame);
      }),
      { numRuns: 1000 },
    );
  });

  test("no removed field is compatible, except for wording in a schema", () => {
    for (const contract of all) {
      for (const pointer of leavesOf(contract).filter((leaf) => !leaf.includes("_schema"))) {
        const changes = diffContracts(contract, withValue(contract, pointer, undefined));
        if (pointer === "/contract/identity/version") continue;
        expect([pointer, changes.some(({ kind }) => kind === "breaking")]).toEqual([pointer, true]);
      }
    }
  });
});

/** Pointers to everything that holds no further fields; no key in them needs escaping. */
function leavesOf(contract: PublishedContract): readonly string[] {
  const walk = (value: JsonValue, pointer: string): readonly string[] =>
    isJsonObject(value) && Object.keys(value).length > 0
      ? Object.entries(value).flatMap(([key, item]) => walk(item, `${pointer}/${key}`))
      : [pointer];
  return walk(contract, "");
}
