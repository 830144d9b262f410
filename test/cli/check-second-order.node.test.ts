import * as v from "valibot";
import { expect, test } from "vitest";
import { checkSecondOrder } from "../../cli/environment/check-second-order.ts";
import { registerContracts } from "../../src/contracts/check/register.ts";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import { ok } from "../../src/protocol/outcome/result.ts";

const text = { text: v.string() };
const read = (name: string, more: object, output: v.ObjectEntries = text) =>
  defineTool({
    name,
    version: "1.0.0",
    description: "Reads.",
    input: v.strictObject({}),
    output: v.strictObject(output),
    sideEffectClass: "READ_ONLY",
    effect: "read_only",
    redaction: { args: [], output: [] },
    capabilities: [],
    execute: () => ok({ text: "", count: 0 }),
    ...more,
  });
const notes = { workspace: "notes", capabilities: ["workspace"] } as const;
const write = defineTool({
  name: "notes__write",
  version: "1.0.0",
  description: "Writes.",
  input: v.strictObject(text),
  output: v.strictObject({}),
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: [], output: [] },
  ...notes,
  execute: () => ok({}),
});
const mail = read("mail__read", { security: { untrustedOutput: true } });
const vouched = read("notes__read", notes);

test.each([
  ["a vouched read of what another tool writes", [mail, write, vouched], ["notes__read"]],
  ["no text of strangers at all", [write, vouched], []],
  ["no write to that place", [mail, vouched], []],
  ["another workspace", [mail, write, read("other__read", { ...notes, workspace: "other" })], []],
  ["a count", [mail, write, read("notes__count", notes, { count: v.number() })], []],
  [
    "a read that does not vouch",
    [mail, write, read("notes__read", { ...notes, security: { untrustedOutput: true } })],
    [],
  ],
])("warns of %s", (_, tools, places) => {
  expect(checkSecondOrder(registerContracts(tools)).map(({ place }) => place)).toEqual(places);
});
