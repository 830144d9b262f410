import * as v from "valibot";
import { expect, test } from "vitest";
import { defineTool } from "../../../src/contracts/define/define-tool.ts";
import { calculate } from "../../../src/core-tools/calculate.ts";
import { registerContract } from "../../../src/contracts/check/register.ts";
import { complete, sound } from "../definitions.ts";
import { refusalOf, startOf, type Change } from "../refusal.ts";

const write = { sideEffectClass: "MEDIUM_RISK_WRITE", effect: "state_change" };
const low = { sideEffectClass: "LOW_RISK_INTERNAL", effect: "state_change" };
const critical = { sideEffectClass: "CRITICAL_MUTATION", effect: "state_change" };
const irreversible = { ...critical, transactional: { semantics: "irreversible_pivot" } };
const verified = {
  redaction: { args: ["a"], output: ["ok"], state: ["isLocked"] },
  verification: {
    delaySeconds: 1,
    expect: () => ({ reference: "house", state: { isLocked: true } }),
  },
  verify: () => Promise.resolve({ kind: "verified" }),
};
const inputOf = (entries: v.ObjectEntries): Change => ({
  input: v.strictObject(entries),
  redaction: { args: [], output: [] },
});
const webOf = (...egressHosts: string[]): Change => ({
  capabilities: ["http"],
  security: { egressPolicy: "allowlisted_domains", egressHosts },
});
const MEDIUM_PLAN =
  "class MEDIUM_RISK_WRITE needs a compensationTool or the semantics irreversible_pivot";
const sunset = (sunsetDate: string | null, status = "deprecated"): Change => ({
  lifecycle: { status, sunsetDate, replacement: null },
});

test.each<[string, Change, string]>([
  [
    "redaction of an argument that does not exist",
    { redaction: { args: ["a.x"], output: [] } },
    "redaction.args names no field: a.x",
  ],
  [
    "redaction of an output that does not exist",
    { redaction: { args: [], output: ["ok.x"] } },
    "redaction.output names no field: ok.x",
  ],
  ["an effect against its class", { effect: "state_change" }, "effect state_change contradicts"],
  ["a reading effect in a writing class", { ...write, effect: "read_only" }, "effect read_only"],
  [
    "writing semantics in a reading class",
    { transactional: { semantics: "saga_step" } },
    "semantics saga_step contradicts side-effect class READ_ONLY",
  ],
  [
    "reading semantics in a writing class",
    { ...write, transactional: { semantics: "read_only" } },
    "semantics read_only contradicts side-effect class MEDIUM_RISK_WRITE",
  ],
  [
    "a preview of which nothing may be seen",
    { preview: () => Promise.resolve({ before: null, after: null }) },
    "preview and verification need redaction.state",
  ],
  [
    "states that nobody tells",
    { redaction: { args: [], output: [], state: ["a"] } },
    "redaction.state needs preview or verification",
  ],
  [
    "an amount of no preview",
    { amountField: { preview: "/after/due" } },
    "amountField names no field of preview that redaction.state shows: /after/due",
  ],
  [
    "an amount that nobody sees",
    {
      redaction: { args: [], output: [], state: ["open"] },
      preview: () => Promise.resolve({ before: null, after: null }),
      amountField: { preview: "/after/due" },
    },
    "amountField names no field of preview that redaction.state shows: /after/due",
  ],
  [
    "an amount of neither state",
    {
      redaction: { args: [], output: [], state: ["due"] },
      preview: () => Promise.resolve({ before: null, after: null }),
      amountField: { preview: "/due" },
    },
    "amountField names no field of preview that redaction.state shows: /due",
  ],
  [
    "what may drift of no preview",
    { mayDrift: { queue: "it decides nothing" } },
    "mayDrift needs preview",
  ],
  [
    "what may drift that nobody sees",
    {
      redaction: { args: [], output: [], state: ["queue.length"] },
      preview: () => Promise.resolve({ before: null, after: null }),
      mayDrift: { queue: "it decides nothing" },
    },
    "mayDrift names no field of redaction.state: queue",
  ],
  [
    "what may drift without a reason",
    {
      redaction: { args: [], output: [], state: ["queue"] },
      preview: () => Promise.resolve({ before: null, after: null }),
      mayDrift: { queue: " " },
    },
    "mayDrift.queue: must not be empty",
  ],
  ["an input that takes unknown fields", { input: v.object({}) }, "input must be a strictObject"],
  ["an output that is no object", { output: v.string() }, "output must be a strictObject"],
  ["a schema that JSON Schema cannot say", inputOf({ at: v.date() }), 'input: The "date" schema'],
  [
    "a check that JSON Schema cannot say",
    inputOf({
      n: v.pipe(
        v.number(),
        v.check((n) => n > 1),
      ),
    }),
    'input: The "check" action',
  ],
  [
    "a default that is made anew each time",
    inputOf({ at: v.optional(v.string(), () => crypto.randomUUID()) }),
    "input: derives to another schema every time",
  ],
  [
    "a schema by hand in metadata",
    inputOf({ n: v.pipe(v.string(), v.metadata({ maxLength: 5 })) }),
    "input: metadata maxLength is a schema by hand",
  ],
  [
    "an unsupported construct in the output",
    { output: v.strictObject({ ok: v.any() }) },
    'output schema at "/properties/ok": keyword type must name one type',
  ],
  [
    "a dangerous pattern in the output",
    { output: v.strictObject({ ok: v.pipe(v.string(), v.regex(/(a+)+/)) }) },
    'output schema at "/properties/ok": pattern repeats a group that contains a repetition',
  ],
  ["connectionId", inputOf({ connectionId: v.string() }), "must not have a field connectionId"],
  ["connection_id", inputOf({ connection_id: v.string() }), "must not have a field connectionId"],
  ["CONNECTIONID", inputOf({ CONNECTIONID: v.string() }), "must not have a field connectionId"],
  [
    "connectionId in a nested list",
    inputOf({ a: v.array(v.strictObject({ ConnectionId: v.optional(v.string()) })) }),
    "must not have a field connectionId",
  ],
  [
    "connectionId in what may be null",
    inputOf({ a: v.nullable(v.strictObject({ connectionid: v.string() })) }),
    "must not have a field connectionId",
  ],
  [
    "a connection without the capability",
    { requiresConnection: true },
    "requiresConnection needs the capability auth",
  ],
  [
    "the capability without a connection",
    { capabilities: ["auth"] },
    "the capability auth needs requiresConnection",
  ],
  [
    "http without a host",
    { capabilities: ["http"] },
    "http and security.upstreams or egressHosts need each other",
  ],
  [
    "an upstream without http",
    { security: { egressPolicy: "allowlisted_domains", upstreams: ["desk"] } },
    "http and security.upstreams or egressHosts need each other",
  ],
  ...[
    "https://desk.example",
    "desk.example",
    "127.0.0.1",
    "Desk",
    "desk/api",
    "",
    "a".repeat(33),
  ].map((upstream): [string, Change, string] => [
    `the upstream ${JSON.stringify(upstream)}`,
    {
      capabilities: ["http"],
      security: { egressPolicy: "allowlisted_domains", upstreams: [upstream] },
    },
    "security.upstreams.0: must be a name of [a-z0-9-], not an address",
  ]),
  [
    "a host without http",
    { ...webOf("a.example"), capabilities: [] },
    "http and security.upstreams or egressHosts need each other",
  ],
  [
    "http under another policy of egress",
    { ...webOf("a.example"), security: { egressHosts: ["a.example"] } },
    "http and egressPolicy allowlisted_domains need each other",
  ],
  [
    "an egress policy without http",
    { security: { egressPolicy: "allowlisted_domains" } },
    "http and egressPolicy allowlisted_domains need each other",
  ],
  ...["private_network_only", "unrestricted_with_approval"].map(
    (egressPolicy): [string, Change, string] => [
      `the egress policy ${egressPolicy}`,
      { ...webOf("a.example"), security: { egressPolicy, egressHosts: ["a.example"] } },
      `egressPolicy ${egressPolicy} is not enforced; use allowlisted_domains or none`,
    ],
  ),
  ["a sandbox", { runtime: { sandboxIsolated: true } }, "there is no sandbox"],
  ...["token", "custom"].map((unit): [string, Change, string] => [
    `a price by ${unit}`,
    { runtime: { cost: { currency: "EUR", perCall: 1, unit } } },
    `nothing counts ${unit} as a cost unit; use call, transaction or second`,
  ]),
  [
    "secrets in a sandbox",
    { security: { secretsBoundary: "execution_sandbox" } },
    "security.secretsBoundary execution_sandbox is not kept: it is none; leave it out",
  ],
  [
    "injected secrets of no connection",
    { security: { secretsBoundary: "gateway_injected" } },
    "security.secretsBoundary gateway_injected is not kept: it is none; leave it out",
  ],
  [
    "a connection that holds no secrets",
    { capabilities: ["auth"], requiresConnection: true, security: { secretsBoundary: "none" } },
    "security.secretsBoundary none is not kept: it is gateway_injected; leave it out",
  ],
  [
    "a workspace of no tenant",
    { capabilities: ["workspace"], workspace: "desk", security: { tenantScoped: false } },
    "workspaces and connections belong to one tenant; leave security.tenantScoped out",
  ],
  [
    "a connection of no tenant",
    { capabilities: ["auth"], requiresConnection: true, security: { tenantScoped: false } },
    "workspaces and connections belong to one tenant; leave security.tenantScoped out",
  ],
  ...["core__sound", "Core__sound", "mcp__sound", "MCP__sound"].map(
    (name): [string, Change, string] => [
      `the reserved id ${name}`,
      { name },
      "ids that begin with core__ or mcp__ are reserved; choose another namespace",
    ],
  ),
  [
    "the mark of a core tool under another reserved id",
    { ...calculate, name: "core__sound" },
    "ids that begin with core__ or mcp__ are reserved; choose another namespace",
  ],
  ...[
    ["auditRequired", "observability"],
    ["payloadHashRequired", "idempotency"],
  ].map(([field = "", section = ""]): [string, Change, string] => [
    `${field}, which is always on`,
    { [section]: { [field]: true } },
    `${section}.${field}: `,
  ]),
  [
    "a write that does not last and reaches the outside",
    { ...webOf("a.example"), sideEffectClass: "EPHEMERAL_WRITE", effect: "state_change" },
    "class EPHEMERAL_WRITE changes nothing outside",
  ],
  ["a medium write that nothing undoes", write, MEDIUM_PLAN],
  [
    "a medium write that only says that it may be repeated",
    {
      ...write,
      transactional: { semantics: "idempotent_write" },
      idempotency: { supported: true },
    },
    MEDIUM_PLAN,
  ],
  ...[
    "https://a.example",
    "a.example/",
    "a.example/path",
    "user@a.example",
    "a.example:443",
    "a.example:80",
    "a.example:",
    "a.example:65536",
    "a.example.",
    "*.example",
    "A.example",
    "b\u00fccher.example",
    "a.example b.example",
    "a.example\n",
    "a..example",
    "0x7f.1",
    "127.1",
    "2130706433",
    "::1",
    "[::01]",
    "[::ffff:127.0.0.1]",
    "",
  ].map((host): [string, Change, string] => [
    `the host ${JSON.stringify(host)}`,
    webOf(host),
    "security.egressHosts.0: must be host or host:port, in lower case, as a URL shows it",
  ]),
  ...["Host", "content-type", "Authorization", "Cookie"].map(
    (keyHeader): [string, Change, string] => [
      `its key under ${keyHeader}`,
      { ...webOf("a.example"), idempotency: { keyHeader } },
      "idempotency.keyHeader has another meaning",
    ],
  ),
  [
    "texts for the model that providers refuse, each short enough alone",
    { allowedUseCases: ["x".repeat(600)], forbiddenUseCases: ["y".repeat(600)] },
    "characters; a model takes 1024",
  ],
  [
    "an example that does not fit",
    { examples: [{ description: "Wrong.", arguments: { a: 1 } }] },
    'example "Wrong." does not fit the input: a: ',
  ],
  [
    "an example that breaks a rule",
    {
      examples: [{ description: "Broken.", arguments: { a: { b: [] } } }],
      rules: [{ code: "some", message: "at least one", holds: () => false }],
    },
    'example "Broken." breaks the rule some',
  ],
  [
    "a counterexample that does not fit",
    {
      rules: [{ code: "some", message: "x", counterexample: { b: 1 }, holds: () => false }],
    },
    "counterexample of the rule some does not fit the input",
  ],
  [
    "a counterexample that breaks nothing",
    {
      rules: [{ code: "some", message: "x", counterexample: { a: { b: [] } }, holds: () => true }],
    },
    "counterexample of the rule some does not break it",
  ],
  [
    "a rule on no field",
    { rules: [{ code: "some", message: "x", field: "/a/x", holds: () => true }] },
    "rule some names no input field: /a/x",
  ],
  [
    "a rule on a field that is no pointer",
    { rules: [{ code: "some", message: "x", field: "a", holds: () => true }] },
    "rule some names no input field: a",
  ],
  ["an amount in no field", { amountField: "/amount" }, "amountField names no input field"],
  ["an amount that is no number", { amountField: "/a" }, "amountField is not one number: /a"],
  [
    "an amount in a list",
    { ...inputOf({ n: v.array(v.number()) }), amountField: "/n/*" },
    "amountField is not one number: /n/*",
  ],
  [
    "a critical mutation that nothing undoes",
    critical,
    "needs a compensationTool or the semantics irreversible_pivot",
  ],
  [
    "a tool that compensates itself",
    { ...critical, transactional: { compensationTool: "test__sound" } },
    "compensationTool names the tool itself",
  ],
  [
    "a call that can be undone, without the arguments for it",
    { ...write, transactional: { compensationTool: "test__undo" } },
    "semantics compensable_write needs a compensationTool and compensate; add both",
  ],
  [
    "a call that can be undone, by nothing",
    { ...write, transactional: { semantics: "saga_step" }, compensate: () => ({}) },
    "semantics saga_step needs a compensationTool and compensate; add both",
  ],
  [
    "a call that nobody can undo, and a tool that does",
    {
      ...write,
      transactional: { semantics: "irreversible_pivot", compensationTool: "test__undo" },
      compensate: () => ({}),
    },
    "semantics irreversible_pivot takes no compensationTool and no compensate; remove them",
  ],
  [
    "arguments to undo a read",
    { compensate: () => ({}) },
    "semantics read_only takes no compensationTool and no compensate; remove them",
  ],
  [
    "an idempotent write that is not idempotent",
    { ...low, transactional: { semantics: "idempotent_write" } },
    "semantics idempotent_write needs idempotency.supported; set it to true",
  ],
  [
    "a step that is repeated until it succeeds, for no time",
    {
      ...write,
      transactional: { semantics: "retryable_post_pivot" },
      idempotency: { supported: true },
    },
    "semantics retryable_post_pivot needs runtime.retryForMs",
  ],
  [
    "a critical mutation that nobody confirms",
    {
      ...critical,
      transactional: { confirmationRequired: false, semantics: "irreversible_pivot" },
    },
    "class CRITICAL_MUTATION needs transactional.confirmationRequired",
  ],
  [
    "a high risk that nobody confirms",
    {
      sideEffectClass: "HIGH_RISK_EXTERNAL",
      effect: "external_side_effect",
      transactional: { confirmationRequired: false },
    },
    "class HIGH_RISK_EXTERNAL needs transactional.confirmationRequired",
  ],
  [
    "a critical mutation that nothing describes",
    irreversible,
    "must describe them to people; add describe",
  ],
  [
    "an approval by its own wish and no description",
    { ...low, transactional: { confirmationRequired: true } },
    "must describe them to people; add describe",
  ],
  [
    "a critical mutation of which approvers see no argument",
    { ...irreversible, describe: () => null, redaction: { args: [], output: ["ok"] } },
    "must show an argument; add one to redaction.args",
  ],
  ...(["LOW_RISK_INTERNAL", "MEDIUM_RISK_WRITE", "HIGH_RISK_EXTERNAL"] as const).map(
    (sideEffectClass): [string, Change, string] => [
      `${sideEffectClass} without idempotency`,
      { sideEffectClass, effect: "state_change", idempotency: { required: false } },
      `class ${sideEffectClass} needs idempotency.required`,
    ],
  ),
  [
    "repeated writes without a key",
    { sideEffectClass: "LOW_RISK_INTERNAL", effect: "state_change", runtime: { retryForMs: 1 } },
    "runtime.retryForMs needs a write with idempotency.supported",
  ],
  [
    "writes that are repeated for longer than their key is known",
    {
      sideEffectClass: "LOW_RISK_INTERNAL",
      effect: "state_change",
      idempotency: { supported: true, ttlSeconds: 60 },
      runtime: { retryForMs: 60_001 },
    },
    "runtime.retryForMs is longer than idempotency.ttlSeconds",
  ],
  ...(["HIGH_RISK_EXTERNAL", "CRITICAL_MUTATION"] as const).map(
    (sideEffectClass): [string, Change, string] => [
      `${sideEffectClass} that nobody verifies`,
      {
        ...irreversible,
        sideEffectClass,
        describe: () => null,
        transactional: { semantics: "irreversible_pivot", verificationRequired: false },
      },
      `class ${sideEffectClass} needs verify and the section verification`,
    ],
  ),
  [
    "a verification that its own section denies",
    { ...low, ...verified, transactional: { verificationRequired: false } },
    "verify needs transactional.verificationRequired",
  ],
  [
    "a promised verification that nobody does",
    { ...low, transactional: { verificationRequired: true } },
    "transactional.verificationRequired needs verify",
  ],
  [
    "a verification without an expectation",
    { ...low, verify: verified.verify },
    "verify and the section verification need each other",
  ],
  ["a verified read", verified, "verify needs a write"],
  [
    "a verification after more than a day",
    { ...write, ...verified, verification: { ...verified.verification, delaySeconds: 86_401 } },
    "verification.delaySeconds: must be at most 86400",
  ],
  ["repeated reads", { runtime: { retryForMs: 1 } }, "runtime.retryForMs needs a write"],
  ["deprecation without a date", sunset(null), "lifecycle deprecated needs a sunsetDate"],
  ["sunset without a date", sunset(null, "sunsetted"), "lifecycle sunsetted needs a sunsetDate"],
])("refuses a contract with %s", (_name, change, reason) => {
  const refusal = refusalOf(change);
  expect(refusal).toContain(reason);
  expect(refusal).toContain(startOf(change));
});

test.each([
  "a.example",
  "a-b.c.example:8443",
  "xn--bcher-kva.example",
  "127.0.0.1:8787",
  "[::1]:1",
])("accepts the host %s", (host) => {
  const idempotency = { keyHeader: "Idempotency-Key" };
  const definition = { ...sound, ...webOf(host), idempotency };
  expect(() => registerContract(defineTool(definition as never))).not.toThrow();
});

test("accepts a critical mutation that is marked as irreversible", () => {
  const transactional = { semantics: "irreversible_pivot", compensationTool: null };
  const { compensate: _, ...rest } = complete;
  expect(() => registerContract(defineTool({ ...rest, transactional } as never))).not.toThrow();
});

test("accepts a critical mutation without arguments that describes itself", () => {
  const lock = {
    ...sound,
    ...irreversible,
    input: v.strictObject({}),
    describe: () => ({ action: "Lock the house", consequence: "Nobody gets in." }),
    ...verified,
    redaction: { args: [], output: ["ok"], state: ["isLocked"] },
  };
  expect(() => registerContract(defineTool(lock as never))).not.toThrow();
});
