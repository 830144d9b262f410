import { isDeepStrictEqual } from "node:util";
import { isJsonObject } from "../../../src/protocol/json/value.ts";
import { compareSchemas } from "./compare-schemas.ts";
import { toChange, type ContractChange, type Difference, type Verdict } from "./contract-change.ts";
import type { SchemaDifference, SchemaEffect } from "./schema-difference.ts";

type Judge = { readonly [Effect in SchemaEffect]: Verdict };

const wording: Verdict = { kind: "compatible", what: "" };

/** Callers write values that the input schema accepts. A narrower schema breaks callers. */
const INPUT: Judge = {
  narrower: { kind: "breaking", what: ", calls that were accepted may be refused" },
  wider: { kind: "compatible", what: "" },
  other: {
    kind: "breaking",
    what: ", calls that were accepted may be refused or mean something else",
  },
  wording,
};

/** Readers know only the values of the old output schema. A wider schema breaks readers. */
const OUTPUT: Judge = {
  narrower: { kind: "compatible", what: "" },
  wider: { kind: "breaking", what: ", readers may meet what they do not know" },
  other: { kind: "breaking", what: ", readers may miss a field or misread it" },
  wording,
};

/** Judges the changes of an input schema. Contract: pure. */
export function diffInputSchema(difference: Difference): readonly ContractChange[] {
  return judge(difference, INPUT);
}

/** Judges the changes of an output schema. Contract: pure. */
export function diffOutputSchema(difference: Difference): readonly ContractChange[] {
  return judge(difference, OUTPUT);
}

function judge({ path, before, after }: Difference, by: Judge): readonly ContractChange[] {
  if (isDeepStrictEqual(before, after)) return [];
  const differences: readonly SchemaDifference[] =
    isJsonObject(before) && isJsonObject(after) ? compareSchemas({ path, before, after }) : [];
  // A difference without a description is not understood.
  const told = differences.length > 0 ? differences : [unsaid({ path, before, after })];
  return told.map((difference) => {
    const { kind, what } = by[difference.effect];
    return toChange(difference, { kind, what: `${difference.what}${what}` });
  });
}

function unsaid(difference: Difference): SchemaDifference {
  return { ...difference, effect: "other", what: "schema changed" };
}
