import { beforeAll, expect, test } from "vitest";
import { putPolicy, seedPolicies, send } from "../shared/worker.ts";

beforeAll(seedPolicies);

interface Warned {
  readonly warnings?: readonly { readonly pointer: string; readonly message: string }[];
}

/** Stores a policy of the tenant `bendable`; returns the warnings of the answer. */
async function warningsAbout(document: object): Promise<Warned["warnings"]> {
  const current = await send("/v1/policy", { caller: "bendable" });
  const etag = current.headers.get("etag");
  const condition = etag === null ? { "if-none-match": "*" } : { "if-match": etag };
  const stored = await putPolicy(document, { caller: "bendable", ...condition });
  expect(stored.status).toBe(200);
  const { warnings } = await stored.json<Warned>();
  const shown = await send("/v1/policy", { caller: "bendable" });
  expect((await shown.json<Warned>()).warnings).toEqual(warnings);
  return warnings;
}

const rule = (must: object, field = "/amount") => ({ tool: "lab__transfer", field, must });
const BUDGETS = { budgets: { maxCritical: 1 }, tenantBudgets: { maxCritical: 1 } };
const PAY = { allowedTools: ["lab__transfer"], ...BUDGETS };

test.each([
  [
    "a critical tool without budget in a run",
    { ...PAY, budgets: {} },
    "/allowedTools/0",
    "budgets",
  ],
  [
    "a critical tool without budget in the tenant",
    { ...PAY, tenantBudgets: {} },
    "/allowedTools/0",
    "tenantBudgets",
  ],
  [
    "a class that has no budget",
    { allowedTools: ["core__calculate", "lab__notify"], budgets: { maxExternal: 0 } },
    "/allowedTools/1",
    "external",
  ],
  [
    "money in another currency",
    { allowedTools: ["lab__wire"], currency: "EUR" },
    "/allowedTools/0",
    "currency",
  ],
  [
    "a connection that no grant gives",
    { allowedTools: ["lab__call_service"] },
    "/allowedTools/0",
    "grant",
  ],
  [
    "a role of approvers that nobody of the tenant has",
    {
      ...PAY,
      approvals: [
        { tools: ["lab__transfer"], pattern: "dual_control", roles: ["operator", "finanse"] },
      ],
    },
    "/approvals/0/roles/1",
    "no known person",
  ],
  [
    "a role of approval limits that nobody of the tenant has",
    {
      ...PAY,
      approvals: [{ tools: ["lab__wire"], pattern: "dual_control", limits: { finanse: 5 } }],
    },
    "/approvals/0/limits/finanse",
    "no known person",
  ],
  [
    "a role of callers' limits that nobody of the tenant has",
    { ...PAY, callerLimits: { finanse: 5 } },
    "/callerLimits/finanse",
    "no known person",
  ],
  [
    "an amount of a tool that declares none",
    {
      ...PAY,
      approvals: [{ tools: ["lab__notify"], amount: { above: 5 }, pattern: "dual_control" }],
    },
    "/approvals/0",
    "amountField",
  ],
  [
    "a role of callers that nobody of the tenant has",
    {
      allowedTools: ["core__calculate"],
      callers: [{ tools: ["core__calculate"], roles: ["operator", "operater"] }],
    },
    "/callers/0/roles/1",
    "no known person",
  ],
  [
    "a price above a cap",
    {
      allowedTools: ["lab__look_in_register", "lab__survey"],
      costCaps: [{ effects: ["state_change"], maxCost: 1.5 }],
    },
    "/allowedTools/1",
    "costCaps",
  ],
  [
    "a role for data that nobody of the tenant has",
    { allowedTools: ["core__calculate"], dataClasses: { public: { roles: ["finanse"] } } },
    "/dataClasses/public/roles/0",
    "no known person",
  ],
  [
    "an upstream for data that no tool reaches",
    {
      allowedTools: ["core__calculate"],
      dataClasses: { public: { upstreams: ["shop.test", "shop.tset"] } },
    },
    "/dataClasses/public/upstreams/1",
    "no tool reaches it",
  ],
  [
    "a pattern for whose roles nobody is there",
    { ...PAY, approvals: [{ tools: ["lab__transfer"], pattern: "compliance" }] },
    "/approvals/0/pattern",
    "no known person",
  ],
  [
    "a role of members that only another tenant has",
    { ...PAY, workspaces: { studio: { roles: ["designer"] } } },
    "/workspaces/studio/roles/0",
    "no known person",
  ],
  [
    "bounds that exclude each other",
    { ...PAY, argumentRules: [rule({ beAtLeast: 5 }), rule({ beAtMost: 4 })] },
    "/argumentRules/1",
    "no value",
  ],
  [
    "values that a bound excludes",
    { ...PAY, argumentRules: [rule({ beAtMost: 4 }), rule({ beOneOf: [5, 6] })] },
    "/argumentRules/1",
    "no value",
  ],
  [
    "a value that must be absent",
    { ...PAY, argumentRules: [rule({ beAbsent: true }), rule({ beAtMost: 4 })] },
    "/argumentRules/1",
    "no value",
  ],
])("a policy is stored with a warning about %s", async (_, document, pointer, word) => {
  const message = expect.stringContaining(word) as string;
  expect(await warningsAbout(document)).toEqual([{ pointer, message }]);
});

test.each([
  ["that allows what calls can meet", PAY],
  ["with a role that somebody has", { ...PAY, workspaces: { studio: { roles: ["operator"] } } }],
  [
    "with bounds that leave one value",
    { ...PAY, argumentRules: [rule({ beAtLeast: 4 }), rule({ beAtMost: 4 })] },
  ],
  [
    "with a value within a bound",
    { ...PAY, argumentRules: [rule({ beAtMost: 4 }), rule({ beOneOf: [4, 6] })] },
  ],
  [
    "with a grant",
    {
      allowedTools: ["lab__call_service"],
      grants: [{ connectionId: "c", tools: ["lab__call_service"] }],
    },
  ],
])("a policy %s is stored without a warning", async (_, document) => {
  expect(await warningsAbout(document)).toBeUndefined();
});
