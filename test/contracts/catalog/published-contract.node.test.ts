import { Ajv } from "ajv";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { TOOLS } from "../../../src/tools/index.ts";
import { defineTool } from "../../../src/contracts/define/define-tool.ts";
import {
  publishContract,
  type PublishedContract,
} from "../../../src/contracts/catalog/published-contract.ts";
import { registerContract } from "../../../src/contracts/check/register.ts";
import type { AnyToolContract } from "../../../src/contracts/define/definition.ts";
import { httpErrorsOf } from "../../../src/protocol/outcome/http-failure.ts";
import interlockSchema from "../../fixtures/interlock-contract.schema.json" with { type: "json" };
import contractSchema from "../../fixtures/tool-contract.schema.json" with { type: "json" };
import { complete, sound } from "../definitions.ts";

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
addFormats(ajv);
const isContract = ajv.compile(contractSchema);
const isInterlock = ajv.compile(interlockSchema);
const draft7 = new Ajv({ allErrors: true, allowUnionTypes: true });
addFormats(draft7);

const define = (change: object = {}, base: object = complete): AnyToolContract =>
  defineTool({ ...base, ...change } as never) as AnyToolContract;
const all: readonly AnyToolContract[] = [...TOOLS, define(), define({}, sound)];

function publish(contract: AnyToolContract): Promise<PublishedContract> {
  return publishContract(registerContract(contract));
}

function faultsOf(validate: ValidateFunction, value: unknown): readonly unknown[] {
  return validate(value) ? [] : (validate.errors ?? []);
}

describe.each(all.map((contract): [string, AnyToolContract] => [contract.name, contract]))(
  "%s",
  (_name, contract) => {
    test("fits the closed canonical schema, and Interlock's own schema beside it", async () => {
      const published = await publish(contract);
      expect(faultsOf(isContract, published.contract)).toEqual([]);
      expect(faultsOf(isInterlock, published.interlock)).toEqual([]);
      expect(Object.keys(published)).toEqual(["contract", "interlock"]);
    });

    test("its schemas are JSON Schema, and its examples fit them", async () => {
      const { affordance } = (await publish(contract)).contract;
      draft7.compile(affordance.output_schema);
      const fits = draft7.compile(affordance.input_schema);
      for (const example of affordance.examples) {
        expect(faultsOf(fits, example.arguments)).toEqual([]);
      }
    });

    test("sorts every class it can end with into a list", async () => {
      const { error_contract: lists, observability } = (await publish(contract)).contract;
      const listed = new Set(Object.values(lists).flat());
      for (const taxonomyClass of Object.values(observability.error_taxonomy_mapping)) {
        expect(listed).toContain(taxonomyClass);
      }
    });
  },
);

test("the canon's schema is closed: one more field does not fit", async () => {
  const { contract } = await publish(define());
  expect(isContract({ ...contract, effect: "read_only" })).toBe(false);
  expect(isContract({ ...contract, identity: { ...contract.identity, id: 1 } })).toBe(false);
});

test("contains everything that its author set", async () => {
  const { contract, interlock } = await publish(define());
  expect(contract.identity).toEqual({
    name: "test__complete",
    version: "2.10.3",
    owner: "billing team",
    lifecycle: {
      status: "deprecated",
      sunset_date: "2028-02-29",
      replacement: "test__other@3.0.0",
    },
  });
  expect(contract.runtime).toEqual({
    timeout_ms: 300_000,
    rate_limits: { window_sec: 1, max_requests: 1 },
    cost_profile: { currency: "EUR", cost_per_call: 0.25, cost_unit: "transaction" },
    sandbox_isolated: false,
    max_retries: 10,
  });
  expect(contract.transactional).toEqual({
    side_effect_class: "CRITICAL_MUTATION",
    confirmation_required: true,
    semantics: "compensable_write",
    compensation_tool: "test__undo",
    post_action_verification_required: true,
  });
  expect(contract.idempotency).toEqual({
    supported: true,
    required: true,
    key_header: "Idempotency-Key",
    ttl_seconds: 3600,
    payload_hash_required: true,
  });
  expect(contract.observability.error_taxonomy_mapping).toEqual({
    ...httpErrorsOf("external_side_effect"),
    card_declined: "SEMANTIC_INVALIDITY",
  });
  expect(interlock).toMatchObject({
    amount_field: "/amount",
    capabilities: ["auth", "http", "progress", "workspace"],
    egress_hosts: ["127.0.0.1:8080", "cards.example"],
    upstreams: ["desk", "ledger"],
    shown_to_model: false,
    optional: ["checkState", "compensate", "describe", "preview", "reconcile", "verify"],
    workspace: "desk",
    retry_for_ms: 60_000,
    verification_delay_seconds: 60,
    rules: ["small_in_euro"],
  });
});

test("lists the classes of the runtime, and that of rules where there are some", async () => {
  const bare = (await publish(define({}, sound))).contract.error_contract;
  expect(bare.repairable_errors).toEqual([
    "SYNTACTIC_PARSE_FAIL",
    "STRUCTURAL_VIOLATION",
    "TYPE_MISMATCH",
    "OUT_OF_BOUNDS",
    "STALE_STATE",
  ]);
  expect(bare.retryable_errors).toContain("RATE_LIMITED");
  expect(bare.fail_closed_errors).toContain("POLICY_VIOLATION");
  expect(bare.escalation_errors).toContain("CONFIRMATION_MISSING");
  const { errors: _, ...unmapped } = complete;
  const full = (await publish(define({}, unmapped))).contract.error_contract;
  expect(full.repairable_errors).toEqual([
    ...bare.repairable_errors.slice(0, -1),
    "SEMANTIC_INVALIDITY",
    "STALE_STATE",
  ]);
});

describe("its hashes", () => {
  const hashesOf = async (change: object): Promise<PublishedContract["interlock"]> =>
    (await publish(define(change))).interlock;

  test("stay when the same is written in another order", async () => {
    const { redaction, capabilities, security } = complete;
    const reordered = {
      redaction: { ...redaction, args: redaction.args.toReversed() },
      capabilities: capabilities.toReversed(),
      security: Object.fromEntries(Object.entries(security).toReversed()),
    };
    expect(await hashesOf(reordered)).toEqual(await hashesOf({}));
  });

  test("both change with a schema", async () => {
    const output = v.strictObject({ ...complete.output.entries, more: v.string() });
    const [before, after] = [await hashesOf({}), await hashesOf({ output })];
    expect(after.schema_hash).not.toBe(before.schema_hash);
    expect(after.contract_hash).not.toBe(before.contract_hash);
  });

  test.each<[string, object]>([
    ["what the canon knows", { description: "Other." }],
    ["what is Interlock's own", { parallel: true }],
    [
      "what people see of a state",
      { redaction: { ...complete.redaction, state: ["other", "status"] } },
    ],
    ["what may drift", { mayDrift: { status: "another reason" } }],
  ])("one changes with %s", async (_name, change) => {
    const [before, after] = [await hashesOf({}), await hashesOf(change)];
    expect(after.schema_hash).toBe(before.schema_hash);
    expect(after.contract_hash).not.toBe(before.contract_hash);
  });
});
