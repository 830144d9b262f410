import * as v from "valibot";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import { expectAnswer } from "../../src/contracts/define/expect-answer.ts";
import { ok } from "../../src/protocol/outcome/result.ts";

const ticket = v.strictObject({ id: v.number(), subject: v.string() });

/** A read over HTTP. */
export const getTicket = defineTool({
  name: "desk__get_ticket",
  version: "1.0.0",
  description: "Reads a ticket. Changes nothing.",
  input: v.strictObject({ id: v.pipe(v.number(), v.integer(), v.minValue(1)) }),
  output: ticket,
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: ["id"], output: ["id", "subject"] },
  capabilities: ["http"],
  security: {
    egressPolicy: "allowlisted_domains",
    upstreams: ["desk"],
    requiredScopes: ["desk:read"],
  },
  async execute({ id }, _context, { http }) {
    const sent = await http.send({ method: "GET", upstream: "desk", path: ["tickets", id] });
    return expectAnswer(sent, { status: 200, body: ticket });
  },
});

/** A write over HTTP with credentials, which people approve. */
export const refund = defineTool({
  name: "desk__refund",
  version: "1.0.0",
  description: "Refunds money for a ticket. Nobody can undo it.",
  input: v.strictObject({
    ticket: v.pipe(v.number(), v.integer(), v.minValue(1)),
    amount: v.pipe(v.number(), v.minValue(1), v.maxValue(500)),
  }),
  output: v.strictObject({ receipt: v.string() }),
  sideEffectClass: "CRITICAL_MUTATION",
  effect: "external_side_effect",
  redaction: { args: ["ticket", "amount"], output: ["receipt"], state: ["receipt", "amount"] },
  capabilities: ["http", "auth"],
  requiresConnection: true,
  amountField: "/amount",
  security: {
    egressPolicy: "allowlisted_domains",
    upstreams: ["desk"],
    requiredScopes: ["desk:refund"],
  },
  idempotency: { supported: true },
  transactional: { semantics: "irreversible_pivot" },
  runtime: { maxRetries: 2 },
  describe: ({ ticket, amount }) => ({
    action: `Refund ${amount} USD for ticket ${ticket}`,
    consequence: `${amount} USD go back to the customer.`,
  }),
  verification: {
    delaySeconds: 60,
    expect: ({ ticket, amount }, { receipt }) => ({
      reference: `tickets/${ticket}/refunds/${receipt}`,
      state: { receipt, amount },
    }),
  },
  async verify({ ticket }, { state }, _context, { http, auth }) {
    const { receipt } = state as { receipt: string };
    const sent = await http.send({
      method: "GET",
      upstream: "desk",
      path: ["tickets", ticket, "refunds", receipt],
      headers: await auth.getAuthHeaders(),
    });
    const body = v.object({ receipt: v.string(), amount: v.number() });
    const answer = expectAnswer(sent, { status: 200, body });
    if (!answer.ok) return { kind: "unknown" };
    return answer.value.amount === state["amount"]
      ? { kind: "verified" }
      : { kind: "mismatch", found: answer.value };
  },
  async execute({ ticket, amount }, _context, { http, auth }) {
    const sent = await http.send({
      method: "POST",
      upstream: "desk",
      path: ["tickets", ticket, "refunds"],
      headers: await auth.getAuthHeaders(),
      body: { amount },
    });
    const answer = expectAnswer(sent, { status: 201, body: v.object({ receipt: v.string() }) });
    return answer.ok ? ok({ receipt: answer.value.receipt }) : answer;
  },
});

export const DESK_TOOLS = [getTicket, refund];

export const DESK_POLICY = {
  allowedTools: ["desk__get_ticket", "desk__refund"],
  approvals: [{ tools: ["desk__refund"], pattern: "dual_control", required: 2, roles: ["lead"] }],
  grants: [{ connectionId: "con_desk", tools: ["desk__refund"] }],
  budgets: { maxCritical: 1, maxFinancial: 100 },
  tenantBudgets: { maxCritical: 10 },
};

export const CONNECTIONS = { con_desk: { kind: "bearer", token: "secret-token" } } as const;

/** The desk answers that it has paid. */
export const PAID = {
  request: { method: "POST", upstream: "desk", path: ["tickets", 7, "refunds"] },
  response: { status: 201, body: { receipt: "r-7" } },
};
