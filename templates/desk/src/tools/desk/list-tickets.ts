import { defineTool, expectAnswer } from "interlock-edge/tools";
import * as v from "valibot";
import { ticket } from "./ticket.ts";

/** Lists tickets. Customers write the subjects, so the output is untrusted. */
export const listTickets = defineTool({
  name: "desk__list_tickets",
  version: "1.0.0",
  description: "Lists the tickets with one status, oldest first, at most 50. It changes nothing.",
  input: v.strictObject({ status: v.optional(v.picklist(["open", "closed"]), "open") }),
  output: v.strictObject({ tickets: v.array(ticket) }),
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: ["status"], output: ["tickets"] },
  capabilities: ["http"],
  security: { egressPolicy: "allowlisted_domains", upstreams: ["desk"] },
  async execute({ status }, _context, { http }) {
    const sent = await http.send({
      method: "GET",
      upstream: "desk",
      path: ["tickets"],
      query: { status },
    });
    return expectAnswer(sent, { status: 200, body: v.strictObject({ tickets: v.array(ticket) }) });
  },
});
