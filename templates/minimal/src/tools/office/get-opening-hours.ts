import { defineTool, ok } from "interlock-edge/tools";
import * as v from "valibot";

const DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday"] as const;

/** Tells when the office is open. */
export const getOpeningHours = defineTool({
  name: "office__get_opening_hours",
  version: "1.0.0",
  description:
    "Tells when the office is open on one day from Monday to Friday. Use it for questions about " +
    "visits and phone calls. It does not know holidays.",
  input: v.strictObject({ day: v.picklist(DAYS) }),
  output: v.strictObject({ opens: v.string(), closes: v.string() }),
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: ["day"], output: ["opens", "closes"] },
  capabilities: [],
  examples: [{ description: "On Friday.", arguments: { day: "friday" } }],
  execute: ({ day }) => ok({ opens: "09:00", closes: day === "friday" ? "15:00" : "17:30" }),
});
