import * as v from "valibot";
import { calculate } from "../../src/core-tools/calculate.ts";
import { defineSaga } from "../../src/contracts/define/define-saga.ts";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import { expectAnswer } from "../../src/contracts/define/expect-answer.ts";
import { fail, ok } from "../../src/protocol/outcome/result.ts";
import { LAB_APPROVALS } from "./lab-approvals.ts";
import { LAB_FLOW } from "./lab-flow.ts";
import { LAB_HOSTILE } from "./lab-hostile.ts";
import { LAB_QUESTIONS } from "./lab-questions.ts";
import { LAB_IMAGES } from "./lab-images.ts";
import { crashes } from "./lab-crashes.ts";
import { readResult } from "../../src/core-tools/read-result.ts";
import { copyOut } from "./lab-results.ts";
import { surveyHouse } from "./lab-details.ts";
import { revise } from "./lab-stale.ts";
import { CANARY, LAB_LEAKS } from "./lab-leaks.ts";
import { readTicket, showAccount } from "./lab-upstreams.ts";
import { LAB_LIBRARY } from "./lab-library.ts";
import { LAB_SAGA_FAULTS } from "./lab-saga-faults.ts";
import { LAB_SAGAS } from "./lab-sagas.ts";
import { LAB_FAILURES } from "./lab-failures.ts";
import { LAB_PRICES } from "./lab-prices.ts";
import { LAB_SHOP } from "./lab-shop.ts";
import { LAB_UNDO } from "./lab-undo.ts";
import { LAB_KEEPERS } from "./lab-workspaces.ts";
import { LAB_VERIFICATION } from "./lab-verification.ts";
import { LAB_WRITES } from "./lab-writes.ts";
import { SHOP } from "../fakes/shop.ts";
import { beforeEachFile } from "../shared/fresh-state.ts";

/** Effects of the laboratory's tools, one entry each. */
export const effects: string[] = [];

const ORDINARY_PAGE = "An ordinary page.";

/** Text of the page that an attacker controls. */
export const page = { text: ORDINARY_PAGE };

beforeEachFile(() => {
  effects.length = 0;
  page.text = ORDINARY_PAGE;
  attempts.clear();
});

/** Reads a page that an attacker controls. Redaction strips the canary in its output. */
const readPage = defineTool({
  name: "lab__read_page",
  version: "1.0.0",
  description: "Reads a page of the open web. Use it when the user names one.",
  input: v.strictObject({ url: v.pipe(v.string(), v.maxLength(200)) }),
  output: v.strictObject({ text: v.string(), session: v.string() }),
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: ["url"], output: ["text"] },
  capabilities: [],
  security: { untrustedOutput: true },
  execute: () => ok({ text: page.text, session: CANARY }),
});

const writeNote = defineTool({
  name: "lab__write_note",
  version: "1.0.0",
  description: "Keeps a note of the tenant. It tells nobody.",
  input: v.strictObject({
    text: v.pipe(v.string(), v.maxLength(100)),
    to: v.optional(v.pipe(v.string(), v.maxLength(64))),
  }),
  output: v.strictObject({ kept: v.boolean() }),
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: ["to"], output: ["kept"] },
  capabilities: [],
  execute({ text }) {
    effects.push(`note: ${text}`);
    return ok({ kept: true });
  },
});

/** No policy of the tests allows this tool. */
const deleteAll = defineTool({
  name: "lab__delete_all",
  version: "1.0.0",
  description: "Deletes everything. Nobody is allowed to.",
  input: v.strictObject({}),
  output: v.strictObject({}),
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "state_change",
  transactional: { semantics: "irreversible_pivot" },
  redaction: { args: [], output: [] },
  capabilities: [],
  execute() {
    effects.push("deleted");
    return ok({});
  },
});

const sendMail = defineTool({
  name: "lab__send_mail",
  version: "1.0.0",
  description: "Sends a mail. Each one needs the consent of a person.",
  input: v.strictObject({ to: v.string(), text: v.string() }),
  output: v.strictObject({ sent: v.boolean() }),
  sideEffectClass: "HIGH_RISK_EXTERNAL",
  effect: "external_side_effect",
  redaction: { args: ["to"], output: ["sent"], state: ["sent"] },
  capabilities: [],
  verification: {
    delaySeconds: 3_600,
    expect: ({ to }) => ({ reference: `mails/${to}`, state: { sent: true } }),
  },
  verify: ({ to }) =>
    Promise.resolve({ kind: effects.includes(`mail to ${to}`) ? "verified" : "mismatch" }),
  describe: ({ to }) => ({ action: `Mail to ${to}`, consequence: `${to} gets a mail.` }),
  execute({ to }) {
    effects.push(`mail to ${to}`);
    return ok({ sent: true });
  },
});

/** Uses stored credentials and returns only their length. */
const callService = defineTool({
  name: "lab__call_service",
  version: "1.0.0",
  description: "Asks the tenant's service for its status.",
  input: v.strictObject({}),
  output: v.strictObject({ chars: v.number(), connection: v.string() }),
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: [], output: ["chars", "connection"] },
  capabilities: ["auth"],
  requiresConnection: true,
  async execute(_args, { connectionId = "none" }, { auth }) {
    const token = await auth.getAccessToken();
    effects.push(`used ${connectionId}`);
    return ok({ chars: token.length, connection: connectionId });
  },
});

/** Has limits of its own, and answers or fails at length. */
const recite = defineTool({
  name: "lab__recite",
  version: "1.0.0",
  description: "Recites as many letters as asked.",
  input: v.strictObject({
    letters: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100_000)),
    fails: v.optional(v.boolean()),
    text: v.optional(v.string()),
    numbers: v.optional(v.array(v.number())),
  }),
  output: v.strictObject({ text: v.string() }),
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: ["letters", "fails", "text", "numbers"], output: ["text"] },
  capabilities: [],
  runtime: { maxArgumentsBytes: 16 * 1024, maxResultBytes: 64 * 1024 },
  execute({ letters, fails }) {
    if (!fails) return ok({ text: "\u00fc".repeat(letters) });
    // Each of these characters has six bytes in JSON.
    const long = "\u0001".repeat(1_000);
    const error = { field: long, code: long, message: long };
    return fail({
      taxonomyClass: "PERMISSION_DENIED",
      errors: Array.from({ length: 50 }, () => error),
    });
  },
});

/** Reports progress, then answers. The first attempt fails as unavailable. */
const attempts = new Map<string, number>();
const flaky = defineTool({
  name: "lab__flaky",
  version: "1.0.0",
  description: "Works at the second attempt.",
  input: v.strictObject({}),
  output: v.strictObject({ attempts: v.number() }),
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: [], output: ["attempts"] },
  capabilities: ["progress"],
  progressStages: ["asking"],
  execute(_args, _context, { idempotencyKey, progress }) {
    const count = (attempts.get(idempotencyKey) ?? 0) + 1;
    attempts.set(idempotencyKey, count);
    progress.report({ stage: "asking", done: count, total: 2, text: "desk ".repeat(30 * count) });
    if (count > 1) return ok({ attempts: count });
    return fail({
      taxonomyClass: "DEPENDENCY_UNAVAILABLE",
      errors: [{ field: null, code: "down", message: "the service is not there" }],
    });
  },
});

/** Makes an external effect that may be repeated under its key. */
const order = defineTool({
  name: "lab__order",
  version: "1.0.0",
  description: "Orders something from the shop.",
  input: v.strictObject({ what: v.pipe(v.string(), v.maxLength(100)) }),
  output: v.strictObject({ order: v.string() }),
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "external_side_effect",
  transactional: { semantics: "irreversible_pivot" },
  redaction: { args: ["what"], output: ["order"] },
  capabilities: ["http"],
  security: { egressPolicy: "allowlisted_domains", egressHosts: ["shop.test"] },
  idempotency: { supported: true },
  runtime: { maxRetries: 1 },
  async execute({ what }, _context, { http }) {
    const sent = await http.send({ method: "POST", url: `${SHOP}/orders`, body: { what } });
    return expectAnswer(sent, { status: 201, body: v.object({ order: v.string() }) });
  },
});

/** Requests any URL of the model. */
const visit = defineTool({
  name: "lab__visit",
  version: "1.0.0",
  description: "Reads a page of the shop.",
  input: v.strictObject({ url: v.pipe(v.string(), v.maxLength(200)) }),
  output: v.strictObject({ status: v.number(), text: v.string() }),
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: ["url"], output: ["status", "text"] },
  capabilities: ["http"],
  security: { egressPolicy: "allowlisted_domains", egressHosts: ["shop.test"] },
  async execute({ url }, _context, { http }) {
    const sent = await http.send({ method: "GET", url });
    return sent.ok ? ok({ status: sent.value.status, text: sent.value.text }) : sent;
  },
});

const firstVersion = defineTool({
  name: "lab__greet",
  version: "1.0.0",
  description: "Greets in the old way.",
  input: v.strictObject({}),
  output: v.strictObject({ greeting: v.string() }),
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: [], output: ["greeting"] },
  capabilities: [],
  lifecycle: { status: "deprecated", sunsetDate: "2999-01-01", replacement: "lab__greet@2.0.0" },
  execute: () => ok({ greeting: "Good day" }),
});

const secondVersion = defineTool({
  ...firstVersion,
  version: "2.0.0",
  description: "Greets in the new way.",
  lifecycle: { status: "active", sunsetDate: null, replacement: null },
  execute: () => ok({ greeting: "Hello" }),
});

/** Makes an effect inside the process, and crashes the object when a test plans it. */
const actAndCrash = defineTool({
  ...writeNote,
  name: "lab__act_and_crash",
  description: "Acts, and may not live to tell.",
  execute({ text }, { runId }) {
    effects.push(`acted: ${text}`);
    const crash = crashes.get(runId);
    crashes.delete(runId);
    crash?.();
    return ok({ kept: true });
  },
});

/** Tools that do what core tools must not do. */
/** Its first step reads public data, its second one reaches the shop. */
const sumAndOrder = defineSaga({
  name: "lab__sum_and_order",
  version: "1.0.0",
  description: "Computes an amount and orders it.",
  input: v.strictObject({ expression: v.pipe(v.string(), v.maxLength(40)) }),
  output: v.strictObject({ order: v.string() }),
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "external_side_effect",
  redaction: { args: ["expression"], output: ["order"] },
  describe: () => ({ action: "Order", consequence: "The shop delivers." }),
  steps: [
    { tool: calculate, arguments: (args) => args },
    { tool: order, arguments: (_args, done) => ({ what: `${done.of(calculate).result}` }) },
  ],
  result: (_args, done) => ({ order: done.of(order).order }),
});

export const LAB_TOOLS = [
  sumAndOrder,
  readPage,
  writeNote,
  actAndCrash,
  deleteAll,
  sendMail,
  callService,
  recite,
  flaky,
  order,
  visit,
  firstVersion,
  secondVersion,
  ...LAB_IMAGES,
  ...LAB_HOSTILE,
  ...LAB_LEAKS,
  ...LAB_WRITES,
  ...LAB_KEEPERS,
  ...LAB_VERIFICATION,
  ...LAB_APPROVALS,
  ...LAB_QUESTIONS,
  ...LAB_LIBRARY,
  ...LAB_SAGAS,
  ...LAB_SAGA_FAULTS,
  ...LAB_UNDO,
  ...LAB_FAILURES,
  ...LAB_PRICES,
  ...LAB_SHOP,
  ...LAB_FLOW,
  readResult,
  copyOut,
  surveyHouse,
  readTicket,
  revise,
  showAccount,
] as const;
