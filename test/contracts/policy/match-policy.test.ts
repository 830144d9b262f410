import * as v from "valibot";
import { expect, test } from "vitest";
import { registerContract } from "../../../src/contracts/check/register.ts";
import { defineTool } from "../../../src/contracts/define/define-tool.ts";
import { matchPolicy } from "../../../src/contracts/policy/match-policy.ts";
import { ok } from "../../../src/protocol/outcome/result.ts";
import type { ToolSpec } from "../../../src/protocol/tool/spec.ts";
import { policyOf } from "../../../src/testing/fakes/fakes.ts";

const address = v.strictObject({ address: v.string() });
const specOf = (version: string, more: v.ObjectEntries = {}): ToolSpec =>
  registerContract(
    defineTool({
      name: "mail__send",
      version,
      description: "Sends.",
      input: v.strictObject({
        to: v.array(address),
        replyTo: v.optional(v.nullable(address)),
        "a/b": v.optional(v.string()),
        ...more,
      }),
      output: v.strictObject({}),
      sideEffectClass: "READ_ONLY",
      effect: "read_only",
      redaction: { args: [], output: [] },
      capabilities: [],
      execute: () => ok({}),
    }),
  ).spec;
const SPECS = [specOf("1.0.0"), specOf("2.0.0", { subject: v.string() })];

const mismatches = (document: object): readonly string[] =>
  matchPolicy(policyOf({ allowedTools: [], ...document }), SPECS).map(({ pointer }) => pointer);

const ruleOn = (field: string): object => ({
  argumentRules: [{ tool: "mail__send", field, must: { beAbsent: true } }],
});

test.each([
  ["a tool", { allowedTools: ["mail__send", "mail__sned"] }, "/allowedTools/1"],
  [
    "a version",
    { allowedTools: [{ id: "mail__send", versions: ["1.0.0", "3.0.0"] }] },
    "/allowedTools/0/versions/1",
  ],
  [
    "a canary's version",
    { allowedTools: [{ id: "mail__send", canary: { version: "3.0.0", percent: 1 } }] },
    "/allowedTools/0/canary/version",
  ],
  [
    "a rule's tool",
    { argumentRules: [{ tool: "mail__sned", field: "/to", must: { beAbsent: true } }] },
    "/argumentRules/0/tool",
  ],
  [
    "a tool that people approve",
    { approvals: [{ tools: ["mail__send", "mail__sned"], pattern: "dual_control" }] },
    "/approvals/0/tools/1",
  ],
  [
    "more people than one who consents",
    { approvals: [{ pattern: "user_consent", required: 2 }] },
    "/approvals/0/required",
  ],
  [
    "others than the one who consents",
    { approvals: [{ pattern: "user_consent", excludeRequester: true }] },
    "/approvals/0/excludeRequester",
  ],
  [
    "a field that must not name the approver",
    {
      approvals: [
        {
          tools: ["mail__send"],
          pattern: "dual_control",
          approverIsNot: ["/to", "before:/owner", "/cc"],
        },
      ],
    },
    "/approvals/0/approverIsNot/2",
  ],
  ["a rule's field", ruleOn("/cc"), "/argumentRules/0/field"],
  ["a rule's field below a list", ruleOn("/to/address"), "/argumentRules/0/field"],
  ["a rule's field below a text", ruleOn("/to/*/address/x"), "/argumentRules/0/field"],
  ["a rule's field of every object", ruleOn("/constructor"), "/argumentRules/0/field"],
  [
    "a grant's tool",
    { grants: [{ connectionId: "c", tools: ["mail__send", "x"] }] },
    "/grants/0/tools/1",
  ],
  [
    "a delegation's tool",
    { delegations: [{ actorId: "agent:a", subjectId: "user:b", tools: ["x"] }] },
    "/delegations/0/tools/0",
  ],
])("finds %s that does not exist", (_name, document, pointer) => {
  expect(mismatches(document)).toEqual([pointer]);
});

test.each(["/to", "/to/*/address", "/replyTo/address", "/a~1b", "/subject"])(
  "knows the field %s, also of one version alone",
  (field) => expect(mismatches(ruleOn(field))).toEqual([]),
);

test("finds a second entry for one tool, which would never count", () => {
  const allowedTools = ["mail__send", { id: "mail__send", versions: ["2.0.0"] }];
  expect(mismatches({ allowedTools })).toEqual(["/allowedTools/1"]);
});
