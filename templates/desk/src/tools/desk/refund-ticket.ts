import { defineTool, expectAnswer } from "interlock-edge/tools";
import * as v from "valibot";
import { ticketId } from "./ticket.ts";

/** Sends money back. Two people who did not ask for it have to agree; see tenant/policy.json. */
export const refundTicket = defineTool({
  name: "desk__refund_ticket",
  version: "1.0.0",
  description: "Refunds the customer of one ticket, in USD. Nobody can undo it.",
  input: v.strictObject({
    id: ticketId,
    amount: v.pipe(v.number(), v.minValue(1), v.maxValue(500)),
  }),
  output: v.strictObject({ receipt: v.string() }),
  sideEffectClass: "CRITICAL_MUTATION",
  effect: "external_side_effect",
  redaction: { args: ["id", "amount"], output: ["receipt"], state: ["id", "amount"] },
  capabilities: ["http"],
  security: { egressPolicy: "allowlisted_domains", upstreams: ["desk"] },
  transactional: { semantics: "irreversible_pivot" },
  idempotency: { supported: true },
  amountField: "/amount",
  describe: ({ id, amount }) => ({
    action: `Refund ${amount} USD for ${id}`,
    consequence: `The customer of ${id} gets ${amount} USD. Nobody can take it back.`,
  }),
  verification: {
    delaySeconds: 60,
    expect: ({ id, amount }, { receipt }) => ({
      reference: `refunds/${receipt}`,
      state: { id, amount },
    }),
  },
  /** Reads the refund again: a receipt alone does not prove that the money went. */
  async verify({ id, amount }, { reference }, _context, { http }) {
    const sent = await http.send({
      method: "GET",
      upstream: "desk",
      path: ["refunds", reference.slice("refunds/".length)],
    });
    if (sent.ok && sent.value.status === 404) return { kind: "mismatch", found: {} };
    const body = v.strictObject({ id: v.string(), amount: v.number() });
    const found = expectAnswer(sent, { status: 200, body });
    if (!found.ok) return { kind: "unknown" };
    const isSame = found.value.id === id && found.value.amount === amount;
    return isSame ? { kind: "verified" } : { kind: "mismatch", found: found.value };
  },
  async execute({ id, amount }, _context, { http }) {
    const sent = await http.send({
      method: "POST",
      upstream: "desk",
      path: ["tickets", id, "refunds"],
      body: { amount },
    });
    return expectAnswer(sent, { status: 201, body: v.strictObject({ receipt: v.string() }) });
  },
});
