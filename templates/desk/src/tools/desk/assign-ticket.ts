import { defineTool, expectAnswer } from "interlock-edge/tools";
import * as v from "valibot";
import { ticket, TICKET_FIELDS, ticketId } from "./ticket.ts";

/** Gives a ticket to a person. The person who asked for it has to agree. */
export const assignTicket = defineTool({
  name: "desk__assign_ticket",
  version: "1.0.0",
  description: "Assigns one ticket to a person of the team. Use the id that the list shows.",
  input: v.strictObject({
    id: ticketId,
    assignee: v.pipe(v.string(), v.regex(/^[a-z]{1,32}$/)),
  }),
  output: ticket,
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "external_side_effect",
  redaction: { args: ["id", "assignee"], output: TICKET_FIELDS },
  capabilities: ["http"],
  security: { egressPolicy: "allowlisted_domains", upstreams: ["desk"] },
  transactional: { confirmationRequired: true, semantics: "irreversible_pivot" },
  idempotency: { supported: true },
  describe: ({ id, assignee }) => ({
    action: `Assign ${id} to ${assignee}`,
    consequence: `${assignee} gets the ticket ${id} and is told so.`,
  }),
  async execute({ id, assignee }, _context, { http }) {
    const sent = await http.send({
      method: "PUT",
      upstream: "desk",
      path: ["tickets", id, "assignee"],
      body: { assignee },
    });
    return expectAnswer(sent, { status: 200, body: ticket });
  },
});
