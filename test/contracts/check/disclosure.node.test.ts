import * as v from "valibot";
import { expect, test } from "vitest";
import { registerContract } from "../../../src/contracts/check/register.ts";
import { defineTool } from "../../../src/contracts/define/define-tool.ts";
import { ok } from "../../../src/protocol/outcome/result.ts";

const WEB = { egressPolicy: "allowlisted_domains", egressHosts: ["web.example"] } as const;
const listed = v.picklist(["open", "closed"]);
const ownId = v.pipe(v.string(), v.regex(/^[A-Z]-[0-9]{1,8}$/), v.maxLength(12));

interface Asked {
  readonly input: v.ObjectEntries;
  readonly discloses?: boolean;
  readonly reaches?: boolean;
}

/** Registers a read; tells whether it discloses, or why it is refused. */
function disclosureOf({ input, discloses, reaches = true }: Asked) {
  const contract = defineTool({
    name: "web__read",
    version: "1.0.0",
    description: "Reads.",
    input: v.strictObject(input),
    output: v.strictObject({}),
    sideEffectClass: "READ_ONLY",
    effect: "read_only",
    redaction: { args: [], output: [] },
    capabilities: reaches ? ["http"] : [],
    security: { ...(reaches && WEB), ...(discloses !== undefined && { discloses }) },
    execute: () => ok({}),
  });
  try {
    return registerContract(contract).discloses;
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
}

const REFUSED = expect.stringContaining(
  "security.discloses needs arguments without free text",
) as unknown;

const text = v.string();
const list = <Item extends v.GenericSchema>(item: Item, most: number) =>
  v.pipe(v.array(item), v.maxLength(most));

test.each<readonly [what: string, outcome: unknown, asked: Asked]>([
  ["with http and text discloses", true, { input: { text } }],
  ["with http and ids discloses until it says otherwise", true, { input: { ownId } }],
  ["with http, numbers and listed values does not", false, { input: { at: v.number(), listed } }],
  ["with a short list of numbers does not", false, { input: { at: list(v.number(), 16) } }],
  ["with a long list of numbers discloses", true, { input: { at: list(v.number(), 17) } }],
  ["with a list of listed values discloses", true, { input: { at: v.array(listed) } }],
  [
    "with a list of ids may not say no",
    REFUSED,
    { input: { at: v.nullable(v.strictObject({ ids: v.array(ownId) })) }, discloses: false },
  ],
  ["without http does not", false, { input: { text }, reaches: false }],
  ["without http may say so", true, { input: { text }, discloses: true, reaches: false }],
  ["with ids of its own may say no", false, { input: { ownId, listed }, discloses: false }],
  ["with free text may not say no", REFUSED, { input: { text }, discloses: false }],
  [
    "with free text of a bounded length may not say no",
    REFUSED,
    { input: { short: v.pipe(text, v.maxLength(20)) }, discloses: false },
  ],
  [
    "with a pattern that fits anything may not say no",
    REFUSED,
    { input: { any: v.pipe(text, v.regex(/^.{1,60}$/), v.maxLength(60)) }, discloses: false },
  ],
])("a read %s", (_, outcome, asked) => {
  expect(disclosureOf(asked)).toEqual(outcome);
});
