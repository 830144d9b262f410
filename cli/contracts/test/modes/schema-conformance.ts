import { ok } from "../../../../src/protocol/outcome/result.ts";
import { endOf } from "../../../../src/testing/fakes/runner-ports.ts";
import { validatorOf } from "../subject.ts";
import type { TestMode } from "../test-mode.ts";
import { openTrial } from "../trial.ts";

/**
 * Arguments that the published schema accepts reach the tool. Others are refused by the right
 * class.
 */
export const schemaConformance: TestMode = {
  id: "schema",
  name: "Schema Conformance",
  async run(subject, checks) {
    const answer = (): unknown => ok(subject.outputs[0]);
    const fits = validatorOf(subject.inputSchema);
    for (const { arguments: args } of subject.contract.examples) {
      checks.that("an example fits the schema as others read it", fits(args), args);
    }
    for (const args of subject.validArgs) {
      const { call, started } = openTrial(subject, { answer });
      const result = await call(args);
      const isTaken = result.ok && started.length === 1;
      checks.that("arguments that fit the schema reach the tool", isTaken, [endOf(result), args]);
    }
    for (const { args, taxonomyClass } of subject.badArgs) {
      const { call, started } = openTrial(subject, { answer });
      const { observation } = await call(args);
      const { status } = observation;
      const isRefused = status.taxonomy_class === taxonomyClass && status.repairable;
      const seen = [status.taxonomy_class, "expected", taxonomyClass, args];
      checks.that("arguments with one thing wrong are refused by its class", isRefused, seen);
      checks.that("refused arguments never reach the tool", started.length === 0);
    }
    for (const text of ["0", "{", "[]", "null", '{"a":1} {"b":2}']) {
      const { call, started } = openTrial(subject, { answer });
      const { observation } = await call(text);
      const { taxonomy_class: seen } = observation.status;
      const isRefused = seen === "SYNTACTIC_PARSE_FAIL" && started.length === 0;
      checks.that("text that is not one JSON object is refused as such", isRefused, seen);
    }
    return undefined;
  },
};
