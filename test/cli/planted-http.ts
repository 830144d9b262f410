import * as v from "valibot";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import { expectAnswer } from "../../src/contracts/define/expect-answer.ts";
import { ok } from "../../src/protocol/outcome/result.ts";

const ticket = v.object({ id: v.string() });

/** Opens a ticket, and has no fault. */
const open = defineTool({
  name: "sound__open-ticket",
  version: "1.0.0",
  description: "Opens a ticket.",
  input: v.strictObject({ queue: v.pipe(v.string(), v.regex(/^[a-z]{1,9}$/)), text: v.string() }),
  output: v.strictObject({ id: v.string() }),
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "external_side_effect",
  transactional: { semantics: "irreversible_pivot" },
  redaction: { args: ["queue"], output: ["id"] },
  capabilities: ["http", "clock"],
  security: { egressPolicy: "allowlisted_domains", upstreams: ["desk"] },
  idempotency: { supported: true },
  runtime: { maxRetries: 2 },
  async execute({ queue, text }, _context, { http }) {
    const path = ["queues", queue, "tickets"];
    const sent = await http.send({ method: "POST", upstream: "desk", path, body: { text } });
    return expectAnswer(sent, { status: 201, body: ticket });
  },
});

/** Sends another text each time. */
const restless = defineTool({
  ...open,
  name: "planted__http-idempotency",
  async execute({ queue }, _context, { http, clock }) {
    const path = ["queues", queue, "tickets"];
    const body = { text: `at ${clock.nowMs()}` };
    const sent = await http.send({ method: "POST", upstream: "desk", path, body });
    return expectAnswer(sent, { status: 201, body: ticket });
  },
});

const read = {
  ...open,
  description: "Reads a ticket.",
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  transactional: {},
  idempotency: {},
} as const;

/** Trusts what the service answers. */
const trusting = defineTool({
  ...read,
  name: "planted__http-observation",
  async execute({ queue }, _context, { http }) {
    const sent = await http.send({ method: "GET", upstream: "desk", path: ["queues", queue] });
    if (!sent.ok) return sent;
    return ok({ id: (sent.value.json as { readonly id: string }).id.trim() });
  },
});

/** Sends what no exchange answers. It is not repeated: each pause before that is half a second. */
const unanswered = defineTool({
  ...read,
  name: "planted__http-unanswered",
  async execute({ queue }, _context, { http }) {
    const url = `https://rates.example/${queue}`;
    const sent = await http.send({ method: "GET", url });
    return expectAnswer(sent, { status: 200, body: ticket });
  },
  runtime: { maxRetries: 0 },
  security: { egressPolicy: "allowlisted_domains", egressHosts: ["rates.example"] },
});

/** Contracts of tools that use HTTP; see planted-contracts.ts. */
export const PLANTED_HTTP = [open, restless, trusting, unanswered];

/** What a service answers to all of them. */
export const EXCHANGES = [
  {
    request: { method: "POST", upstream: "desk", path: ["queues", "*", "tickets"] },
    response: { status: 201, body: { id: "T-1" } },
  },
  { request: { upstream: "desk", path: ["queues", "*"] }, response: { body: { id: "T-1" } } },
];
