import { beforeEach, describe, expect, test } from "vitest";
import { reset } from "cloudflare:test";
import { hashOf } from "../../src/protocol/json/canonical-hash.ts";
import type { JsonValue } from "../../src/protocol/json/value.ts";
import { policyOf } from "../../src/testing/fakes/fakes.ts";
import { putPolicy, send, type Caller } from "../shared/worker.ts";

const FIRST = { "if-none-match": "*" };

const TIME = { allowedTools: ["core__get_current_time"] };

const CALCULATE = { allowedTools: ["core__calculate"] };

const get = (caller: Caller = "acme"): Promise<Response> => send("/v1/policy", { caller });

const answerOf = async (response: Response): Promise<readonly unknown[]> => [
  response.status,
  response.headers.get("etag"),
  await response.json(),
];

const codeOf = async (response: Response): Promise<string> =>
  (await response.json<{ code: string }>()).code;
const hashOfPolicy = (document: object): Promise<string> => hashOf(policyOf(document) as JsonValue);

beforeEach(() => reset());

test("a tenant without a policy is told so", async () => {
  const response = await get();
  expect([response.status, await codeOf(response)]).toEqual([404, "policy_missing"]);
});

test("the first policy and the next ones are read back with their revision, hash and defaults", async () => {
  const hash = await hashOfPolicy(TIME);
  expect(await answerOf(await putPolicy(TIME, FIRST))).toEqual([200, '"1"', { revision: 1, hash }]);
  expect(await answerOf(await get())).toEqual([
    200,
    '"1"',
    { revision: 1, hash, policy: policyOf(TIME) },
  ]);
  const second = await putPolicy(CALCULATE, { "if-match": '"1"' });
  expect(await answerOf(second)).toEqual([
    200,
    '"2"',
    { revision: 2, hash: await hashOfPolicy(CALCULATE) },
  ]);
  expect(await answerOf(await get())).toMatchObject([200, '"2"', { revision: 2 }]);
});

test("a policy as it was read can be put again, and is the same document", async () => {
  await putPolicy(TIME, FIRST);
  const { hash, policy } = await (await get()).json<{ hash: string; policy: object }>();
  const again = await putPolicy(policy, { "if-match": '"1"' });
  expect(await again.json()).toEqual({ revision: 2, hash });
});

test("a policy that was put decides at once what a model sees", async () => {
  // A tenant of its own: an isolate remembers the newest revision it was told of.
  await putPolicy(TIME, { ...FIRST, caller: "bendable" });
  const { tools } = await (
    await send("/v1/tools", { caller: "bendable" })
  ).json<{ tools: readonly { name: string }[] }>();
  expect(tools.map(({ name }) => name)).toEqual(["core__get_current_time"]);
});

describe("the precondition", () => {
  test("of two racing changes lets exactly one through", async () => {
    await putPolicy(TIME, FIRST);
    const race = [TIME, CALCULATE].map((document) => putPolicy(document, { "if-match": '"1"' }));
    const statuses = (await Promise.all(race)).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 412]);
    expect(await answerOf(await get())).toMatchObject([200, '"2"', { revision: 2 }]);
  });

  test("of two racing first policies lets exactly one through", async () => {
    const race = [TIME, CALCULATE].map((document) => putPolicy(document, FIRST));
    const statuses = (await Promise.all(race)).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 412]);
  });

  test.each([
    ["an old revision", { "if-match": '"1"' }],
    ["a revision to come", { "if-match": '"3"' }],
    ["no policy", FIRST],
  ])("that expects %s is told the current revision", async (_name, headers) => {
    await putPolicy(TIME, FIRST);
    await putPolicy(CALCULATE, { "if-match": '"1"' });
    expect(await answerOf(await putPolicy(TIME, headers))).toEqual([
      412,
      '"2"',
      expect.objectContaining({ code: "precondition_failed", revision: 2 }),
    ]);
    expect(await answerOf(await get())).toMatchObject([
      200,
      '"2"',
      { hash: await hashOfPolicy(CALCULATE) },
    ]);
  });

  test("that expects a policy where there is none fails without a revision", async () => {
    const [status, etag, body] = await answerOf(await putPolicy(TIME, { "if-match": '"1"' }));
    expect([status, etag, body]).toMatchObject([412, null, { code: "precondition_failed" }]);
    expect(body).not.toHaveProperty("revision");
  });

  test("is required", async () => {
    const response = await putPolicy(TIME, {});
    expect([response.status, await codeOf(response)]).toEqual([428, "precondition_required"]);
  });

  test.each([
    { "if-match": "1" },
    { "if-match": 'W/"1"' },
    { "if-match": '"1", "2"' },
    { "if-match": '"0"' },
    { "if-match": '"-1"' },
    { "if-match": '"1.5"' },
    { "if-match": '"99999999999999999999"' },
    { "if-match": "*" },
    { "if-none-match": '"1"' },
    { "if-none-match": "*, *" },
    { "if-match": '"1"', "if-none-match": "*" },
  ] as Record<string, string>[])("that cannot be understood is refused: %j", async (headers) => {
    const response = await putPolicy(TIME, headers);
    expect([response.status, await codeOf(response)]).toEqual([400, "precondition_invalid"]);
  });
});

describe("a document is refused, and nothing changes, for", () => {
  const rule = (part: object): object => ({
    ...TIME,
    argumentRules: [
      { tool: "core__calculate", field: "/expression", must: { equal: "1" }, ...part },
    ],
  });
  test.each([
    ["no allowlist", {}, "/allowedTools"],
    ["a typo in a field", { ...TIME, alowedTools: [] }, "/alowedTools"],
    ["a typo in a budget", { ...TIME, budgets: { maxStep: 1 } }, "/budgets/maxStep"],
    ["an unknown tool", { allowedTools: ["core__nothing"] }, "/allowedTools/0"],
    [
      "an unknown version",
      { allowedTools: [{ id: "core__calculate", versions: ["9.9.9"] }] },
      "/allowedTools/0/versions/0",
    ],
    ["a rule on an unknown field", rule({ field: "/expresion" }), "/argumentRules/0/field"],
    [
      "a rule of two predicates",
      rule({ must: { equal: "1", beAtMost: 2 } }),
      "/argumentRules/0/must",
    ],
    [
      "an unknown effect",
      { ...TIME, requireApprovalForEffects: ["writes"] },
      "/requireApprovalForEffects/0",
    ],
    ["a negative budget", { ...TIME, budgets: { maxCritical: -1 } }, "/budgets/maxCritical"],
    [
      "money in more than millionths",
      { ...TIME, budgets: { maxCost: 0.0000001 } },
      "/budgets/maxCost",
    ],
    [
      "an endless window",
      { ...TIME, tenantBudgets: { windowSeconds: 2_678_401 } },
      "/tenantBudgets/windowSeconds",
    ],
    [
      "a time that is none",
      {
        ...TIME,
        grants: [{ connectionId: "c", tools: [], expiresAt: "tomorrow" }],
      },
      "/grants/0/expiresAt",
    ],
    [
      "a number beyond numbers",
      JSON.stringify(rule({ must: { beAtMost: 4242 } })).replace("4242", "1e999"),
      "/argumentRules/0/must/beAtMost",
    ],
    [
      "text that UTF-8 cannot hold",
      rule({ must: { equal: "\ud800" } }),
      "/argumentRules/0/must/equal",
    ],
    ["a tenant in the body", { ...TIME, tenantId: "rival" }, "/tenantId"],
  ])("%s", async (_name, document, pointer) => {
    expect(await answerOf(await putPolicy(document, FIRST))).toEqual([
      422,
      null,
      expect.objectContaining({
        code: "invalid_request",
        errors: [{ pointer, message: expect.any(String) }],
      }),
    ]);
    expect((await get()).status).toBe(404);
  });

  test("a thousand unknown tools, of which it names some", async () => {
    const allowedTools = Array.from({ length: 1_000 }, (_, index) => `core__${index}`);
    const response = await putPolicy({ allowedTools }, FIRST);
    const { errors } = await response.json<{ errors: readonly unknown[] }>();
    expect([response.status, errors.length]).toEqual([422, 20]);
  });

  test("no JSON", async () => {
    expect((await putPolicy("{", FIRST)).status).toBe(400);
    const form = await putPolicy(TIME, { ...FIRST, "content-type": "text/plain" });
    expect(form.status).toBe(415);
  });
});

describe("a tenant", () => {
  test("reads and replaces its own policy alone", async () => {
    await putPolicy(TIME, FIRST);
    expect((await get("rival")).status).toBe(404);
    await putPolicy(CALCULATE, { caller: "rival", ...FIRST });
    expect(await answerOf(await get())).toMatchObject([
      200,
      '"1"',
      { hash: await hashOfPolicy(TIME) },
    ]);
  });

  test("cannot be named by header, address or query", async () => {
    await putPolicy(TIME, FIRST);
    const named = await send("/v1/policy?tenantId=acme", {
      caller: "rival",
      headers: { "x-tenant-id": "acme" },
    });
    expect(named.status).toBe(404);
    expect((await send("/v1/policy/acme", { caller: "rival" })).status).toBe(404);
  });
});

test.each([
  [{}, "/allowedTools", "expected this field"],
  [{ allowedTools: [], currency: "euro" }, "/currency", "expected three capital letters, ISO 4217"],
  [{ allowedTools: [], budgets: { maxSteps: 1_000 } }, "/budgets/maxSteps", "expected at most 100"],
  [
    { allowedTools: [], argumentRules: [{ tool: "a__b", field: "to", must: { equal: 1 } }] },
    "/argumentRules/0/field",
    'expected a JSON pointer, such as "/to/*/address"',
  ],
  [
    { allowedTools: [], argumentRules: [{ tool: "a__b", field: "/to", must: {} }] },
    "/argumentRules/0/must",
    "expected exactly one predicate",
  ],
  [
    { allowedTools: [], grants: [{ connectionId: "a", tools: [], expiresAt: "tomorrow" }] },
    "/grants/0/expiresAt",
    "expected a time that exists, with a zone: 2027-06-30T00:00:00Z",
  ],
])("a refusal says in words what was expected: %j", async (policy, pointer, message) => {
  const response = await putPolicy(policy, FIRST);
  expect(await response.json()).toMatchObject({ errors: [{ pointer, message }] });
});

test("a workspace of a name that would be dropped is refused", async () => {
  const workspaces = { constructor: { members: [{ kind: "actor", id: "user:ann" }] } };
  const response = await putPolicy({ ...TIME, workspaces }, FIRST);
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({
    errors: [
      {
        pointer: "/workspaces",
        message: "expected names other than __proto__, constructor, prototype",
      },
    ],
  });
});
