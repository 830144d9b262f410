import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { registerContracts } from "../../src/contracts/check/register.ts";
import type { RegisteredContract } from "../../src/contracts/catalog/registered.ts";
import {
  mayHaveChanged,
  respond,
  type DispatchState,
} from "../../src/protocol/outcome/response-vector.ts";
import {
  isFailureClass,
  TAXONOMY_CLASSES,
  type FailureClass,
} from "../../src/protocol/outcome/taxonomy.ts";
import { TOOLS } from "../../src/tools/index.ts";
import { openAIWire } from "../../src/wire/openai/wire.ts";
import { rowsOf } from "./table-rows.ts";

/** What a tool adds to a request: with its schema alone, with the description, with everything. */
function measure({ contract, spec }: RegisteredContract): readonly number[] {
  return ["", contract.description, spec.description].map((description) =>
    Buffer.byteLength(JSON.stringify(openAIWire.encodeTool({ ...spec, description }))),
  );
}

test("docs/tools-authoring.md says what the texts of a tool cost in each request", () => {
  const shown = registerContracts(TOOLS).filter(({ spec }) => spec.shownToModel);
  const [first] = shown.map(({ spec }) => spec.description);
  expect(readFileSync("docs/tools-authoring.md", "utf8")).toContain(`\`\`\`text\n${first}\n`);
  const isGameplan = ({ spec }: RegisteredContract): boolean => spec.name.startsWith("gameplan__");
  const rows = shown
    .filter((tool) => !isGameplan(tool))
    .map((tool): [string, readonly number[]] => [`\`${tool.spec.name}\``, measure(tool)]);
  const apps = shown.filter(isGameplan).map(measure);
  const sums = [0, 1, 2].map((at) => apps.reduce((sum, sizes) => sum + (sizes[at] ?? 0), 0));
  const expected = [...rows, [`${apps.length} tools of GamePlan`, sums] as const].map(
    ([name, sizes]) => [name, ...sizes.map((size) => size.toLocaleString("en"))].join(" | "),
  );
  expect(rowsOf("docs/tools-authoring.md", "tool +[|] bytes of name")).toEqual(expected);
});

const DISPATCHED = { dispatched: true, repairEnded: false };
const KINDS: readonly DispatchState[] = [
  { ...DISPATCHED, mutates: false, isIdempotent: true },
  { ...DISPATCHED, mutates: true, isIdempotent: true },
  { ...DISPATCHED, mutates: true, isIdempotent: false },
];

/** What the runtime does after a class, in the words of the page. */
function follows(taxonomyClass: FailureClass, state: DispatchState): string {
  const { repairable, retryable, escalate, requires_approval } = respond(taxonomyClass, state);
  const isUnknown = mayHaveChanged(taxonomyClass, state);
  const steps = [
    ...(retryable ? ["repeated"] : []),
    ...(isUnknown ? ["resolved"] : []),
    ...(repairable ? ["corrected"] : []),
    ...(!isUnknown && (escalate || requires_approval) ? ["looked at"] : []),
  ];
  return steps.join(", then ") || "ended";
}

test("docs/gates.md says what follows from each class, as the runtime decides it", () => {
  const expected = TAXONOMY_CLASSES.filter(isFailureClass).map((one) =>
    [`\`${one}\``, ...KINDS.map((kind) => follows(one, kind))].join(" | "),
  );
  expect(rowsOf("docs/gates.md", "class +[|] a read")).toEqual(expected);
});

test("the README says how heavy a Worker may be", () => {
  const [, limit] = /BASE_LIMIT_KIB = (\d+);/.exec(readFileSync("scripts/parts.ts", "utf8")) ?? [];
  const said = `The Worker is under ${limit} KiB compressed without GamePlan.`;
  expect(readFileSync("README.md", "utf8")).toContain(said);
});
