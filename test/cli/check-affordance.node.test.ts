import * as v from "valibot";
import { expect, test } from "vitest";
import { checkAffordance } from "../../cli/environment/check-affordance.ts";
import { registerContracts } from "../../src/contracts/check/register.ts";
import { TOOLS } from "../../src/tools/index.ts";
import { AS_READ, noteTool } from "../shared/tools.ts";

const messagesFor = (entries: v.ObjectEntries, change: object = {}): readonly string[] => {
  const input = v.strictObject({ text: v.string(), ...entries });
  const { tool } = noteTool({ input, ...change });
  return checkAffordance(registerContracts([tool])).map(({ message }) => message);
};
const text = v.pipe(v.string(), v.maxLength(99));
const choice = v.picklist(["archive", "delete"]);

test.each<[string, v.ObjectEntries, string]>([
  ["an argument that chooses the operation", { action: choice }, "action chooses between 2"],
  ["one that may be left out", { method: v.nullable(choice) }, "method chooses between 2"],
  ["a statement of a database", { sql: text }, "sql takes any text"],
  ["code to run", { script: text }, "script takes any text"],
])("a write whose arguments decide what it does is warned of: %s", (_, entries, message) => {
  expect(messagesFor(entries)).toEqual([expect.stringContaining(message)]);
});

test.each<[string, v.ObjectEntries, object]>([
  ["a read", { query: text, action: choice }, AS_READ],
  ["a choice of values", { colour: choice }, {}],
  ["an operation that stands alone", { action: v.picklist(["archive"]) }, {}],
  ["a text with a form", { code: v.pipe(v.string(), v.regex(/^[A-Z]{3}$/)) }, {}],
])("nothing is said about %s", (_, entries, change) => {
  expect(messagesFor(entries, change)).toEqual([]);
});

test("the tools of this repository do one thing each", () => {
  expect(checkAffordance(registerContracts(TOOLS))).toEqual([]);
});
