import { defineTool, expectAnswer } from "interlock-edge/tools";
import * as v from "valibot";
import { ticket, TICKET_FIELDS } from "./ticket.ts";

/** Opens a ticket. The service makes one ticket of all requests under one key. */
export const createTicket = defineTool({
  name: "desk__create_ticket",
  version: "1.0.0",
  description: "Opens a ticket that the support team works on. It answers nobody.",
  input: v.strictObject({ subject: v.pipe(v.string(), v.minLength(1), v.maxLength(200)) }),
  output: ticket,
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "external_side_effect",
  redaction: { args: ["subject"], output: TICKET_FIELDS },
  capabilities: ["http"],
  security: { egressPolicy: "allowlisted_domains", upstreams: ["desk"] },
  transactional: { semantics: "irreversible_pivot" },
  idempotency: { supported: true },
  runtime: { retryForMs: 10 * 60_000 },
  async execute({ subject }, _context, { http }) {
    const sent = await http.send({
      method: "POST",
      upstream: "desk",
      path: ["tickets"],
      body: { subject },
    });
    return expectAnswer(sent, { status: 201, body: ticket });
  },
});
