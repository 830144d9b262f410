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
  redaction: { args: ["id", "amount"], output: ["receipt"] },
  capabilities: ["http"],
  security: { egressPolicy: "allowlisted_domains", upstreams: ["desk"] },
  transactional: { semantics: "irreversible_pivot" },
  idempotency: { supported: true },
  amountField: "/amount",
  describe: ({ id, amount }) => ({
    action: `Refund ${amount} USD for ${id}`,
    consequence: `The customer of ${id} gets ${amount} USD. Nobody can take it back.`,
  }),
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
