import type { JsonObject, JsonValue } from "../../../../src/protocol/json/value.ts";
import { ok } from "../../../../src/protocol/outcome/result.ts";
import { rulesBrokenBy, sampleObjects, type Subject } from "../subject.ts";
import { inapplicable, type Checks, type TestMode } from "../test-mode.ts";
import { openTrial } from "../trial.ts";

/** Number of generated arguments in the search for one that breaks a rule. */
const TRIES = 500;

/** Each rule refuses at least one call that its schema accepts. */
export const semanticValidation: TestMode = {
  id: "semantic",
  name: "Semantic Validation",
  async run(subject, checks) {
    const { rules } = subject.contract;
    if (rules.length === 0) return inapplicable("it declares no rules");
    const candidates = candidatesOf(subject);
    for (const { code, counterexample } of rules) {
      const args =
        (counterexample as JsonObject | undefined) ??
        candidates.find((candidate) => rulesBrokenBy(subject.contract, candidate).includes(code));
      const ask = `nothing of ${candidates.length} generated; give it a \`counterexample\``;
      checks.that(`something is known to break the rule ${code}`, args !== undefined, ask);
      if (args) await checkRefusal(subject, { code, args }, checks);
    }
    return undefined;
  },
};

async function checkRefusal(
  subject: Subject,
  { code, args }: { readonly code: string; readonly args: JsonObject },
  checks: Checks,
): Promise<void> {
  const { call, started } = openTrial(subject, { answer: () => ok(subject.outputs[0]) });
  const { observation } = await call(args);
  const { status, result_payload: payload } = observation;
  const isNamed = payload.errors.some((error) => error.code === code);
  const isRefused = status.taxonomy_class === "SEMANTIC_INVALIDITY" && isNamed;
  checks.that(`the rule ${code} refuses what breaks it`, isRefused, [status, payload.errors]);
  checks.that("what breaks a rule may be repaired", status.repairable);
  checks.that("what breaks a rule never reaches the tool", started.length === 0);
}

/** Generated arguments, and valid ones with one field generated or removed. */
function candidatesOf({ inputSchema, validArgs }: Subject): readonly JsonObject[] {
  const generated = sampleObjects(inputSchema, TRIES);
  const fields = Object.keys(inputSchema["properties"] as JsonObject);
  const mixed = generated
    .slice(0, TRIES / 10)
    .flatMap((other) => fields.map((field) => withField(validArgs[0], field, other[field])));
  return [...generated, ...mixed];
}

function withField(args: JsonObject, field: string, value: JsonValue | undefined): JsonObject {
  const { [field]: _replaced, ...rest } = args;
  return value === undefined ? rest : { ...rest, [field]: value };
}
