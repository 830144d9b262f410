import { assignTicket } from "./assign-ticket.ts";
import { createTicket } from "./create-ticket.ts";
import { listTickets } from "./list-tickets.ts";
import { refundTicket } from "./refund-ticket.ts";

export const DESK_TOOLS = [listTickets, createTicket, assignTicket, refundTicket] as const;
