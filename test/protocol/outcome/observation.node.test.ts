import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import schema from "../../../cli/contracts/test/observation.schema.json" with { type: "json" };
import type { ToolCallId } from "../../../src/protocol/identity/ids.ts";
import type { JsonObject } from "../../../src/protocol/json/value.ts";
import { hashOf } from "../../../src/protocol/json/canonical-hash.ts";
import {
  OBSERVATION_SCHEMA,
  observeFailure,
  observeSuccess,
} from "../../../src/protocol/outcome/observation.ts";
import { failCall, FAILURES as CODES } from "../../../src/protocol/outcome/failures.ts";
import { respond, type DispatchState } from "../../../src/protocol/outcome/response-vector.ts";
import {
  TAXONOMY_CLASSES,
  toolErrorCode,
  type FailureClass,
} from "../../../src/protocol/outcome/taxonomy.ts";

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats(ajv);
/** The closed schema of seeds/004, "Observation Object Schema". */
const isObservation = ajv.compile(schema);

test("another schema is another version, which the traces of runs name", async () => {
  const versions: Readonly<Record<string, number>> = {
    "sha256:6c8d197dcc877df8488c45e91d29703d74a7d2ea32e6e6dfa4f84f7d98167ebc": 1,
  };
  expect(versions[await hashOf(schema)]).toBe(OBSERVATION_SCHEMA);
});

const FAILURES = TAXONOMY_CLASSES.filter(
  (name): name is FailureClass => name !== "SUCCESS" && name !== "PARTIAL_SUCCESS",
);

const state: fc.Arbitrary<DispatchState> = fc.record({
  dispatched: fc.boolean(),
  mutates: fc.boolean(),
  isIdempotent: fc.boolean(),
  repairEnded: fc.boolean(),
});
const facts = fc.record({
  name: fc.string(),
  version: fc.string(),
  toolCallId: fc.string().map((id) => id as ToolCallId),
  traceId: fc.string(),
  startedAtMs: fc.integer({ min: 0, max: 4e12 }),
  endedAtMs: fc.integer({ min: 0, max: 4e12 }),
  isReplay: fc.boolean(),
  attempt: fc.integer({ min: 1, max: 9 }),
  isVerificationRequired: fc.boolean(),
  state,
  warnings: fc.array(fc.string()),
});
const error = fc.record({
  field: fc.option(fc.string()),
  code: fc.string(),
  message: fc.string(),
});

test("the schema itself refuses what is no observation", () => {
  expect(isObservation({})).toBe(false);
});

test("every outcome of every class is an observation of the closed schema", () => {
  const outcome = fc.oneof(
    fc.tuple(facts, fc.dictionary(fc.string(), fc.jsonValue())).map(([known, data]) => ({
      known,
      observation: observeSuccess(known, data as JsonObject),
    })),
    fc
      .tuple(facts, fc.constantFrom(...FAILURES), fc.array(error))
      .map(([known, taxonomyClass, errors]) => ({
        known,
        observation: observeFailure(known, { taxonomyClass, errors }),
      })),
  );
  fc.assert(
    fc.property(outcome, ({ known, observation }) => {
      expect(
        isObservation(JSON.parse(JSON.stringify(observation))),
        ajv.errorsText(isObservation.errors),
      ).toBe(true);
      const { execution_metadata: metadata, status } = observation;
      expect(metadata).toMatchObject({
        idempotency_hit: known.isReplay,
        attempt_number: known.attempt,
        trace_id: known.traceId,
      });
      expect(status.is_error).toBe(!["SUCCESS", "PARTIAL_SUCCESS"].includes(status.taxonomy_class));
    }),
    { numRuns: 500 },
  );
});

test("each class of failure has a compact code and a vector, whatever the state", () => {
  expect(TAXONOMY_CLASSES.length).toBe(21);
  for (const taxonomyClass of FAILURES) expect(toolErrorCode(taxonomyClass)).toMatch(/^[a-z_]+$/);
  fc.assert(
    fc.property(fc.constantFrom(...TAXONOMY_CLASSES), state, (taxonomyClass, at) => {
      const vector = respond(taxonomyClass, at);
      expect(vector.error_code).toBe(taxonomyClass);
      // The four control paths exclude each other: never retry what is to be repaired or approved.
      const paths = [vector.retryable, vector.repairable, vector.requires_approval];
      expect(paths.filter(Boolean).length).toBeLessThanOrEqual(1);
      if (at.dispatched && at.mutates && !at.isIdempotent) expect(vector.retryable).toBe(false);
      if (at.repairEnded) expect(vector.repairable).toBe(false);
    }),
  );
});

/** The table of seeds/004, "Tool Error Taxonomy": repairable, retryable, requires approval. */
test.each<[FailureClass, boolean, boolean, boolean]>([
  ["SYNTACTIC_PARSE_FAIL", true, false, false],
  ["STRUCTURAL_VIOLATION", true, false, false],
  ["TYPE_MISMATCH", true, false, false],
  ["OUT_OF_BOUNDS", true, false, false],
  ["SEMANTIC_INVALIDITY", true, false, false],
  ["PERMISSION_DENIED", false, false, false],
  ["POLICY_VIOLATION", false, false, false],
  ["STALE_STATE", true, false, false],
  ["CONFIRMATION_MISSING", false, false, true],
  ["BUDGET_EXHAUSTED", false, false, false],
  ["RATE_LIMITED", false, true, false],
  ["TIMEOUT", false, true, false],
  ["DEPENDENCY_UNAVAILABLE", false, true, false],
  ["IDEMPOTENCY_CONFLICT", false, true, false],
  ["SIGNATURE_MISMATCH", false, false, false],
  ["OBSERVATION_NORMALIZATION_FAIL", false, false, false],
  ["COMPENSATION_REQUIRED", false, false, false],
  ["COMPENSATION_FAILED", false, false, true],
  ["UNKNOWN_ERROR", false, false, false],
])("%s: what may follow", (taxonomyClass, repairable, retryable, approval) => {
  const reads = { dispatched: true, mutates: false, isIdempotent: true, repairEnded: false };
  expect(respond(taxonomyClass, reads)).toMatchObject({
    repairable,
    retryable,
    requires_approval: approval,
  });
});

test("a code has a class, and a message where none is given", () => {
  expect(failCall("no_policy").failure).toEqual({
    taxonomyClass: "POLICY_VIOLATION",
    errors: [{ field: null, code: "no_policy", message: CODES.no_policy[1] }],
  });
  expect(failCall("cancelled", "stopped").failure.errors[0]?.message).toBe("stopped");
  // @ts-expect-error its message names the budget, so the caller gives it
  failCall("budget_exhausted");
  // @ts-expect-error a remark ends no call
  failCall("not_committed");
  // @ts-expect-error the runtime has no such code
  const missing = (): unknown => failCall("no_such_code");
  expect(missing).toThrow();
});
