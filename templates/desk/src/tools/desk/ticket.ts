import * as v from "valibot";

/** The id of a ticket, for example `T-1`. */
export const ticketId = v.pipe(v.string(), v.regex(/^T-[0-9]{1,9}$/));

/** A ticket as the service tells it. */
export const ticket = v.strictObject({
  id: v.string(),
  subject: v.string(),
  status: v.string(),
  assignee: v.nullable(v.string()),
});

export const TICKET_FIELDS = ["id", "subject", "status", "assignee"] as const;
