import * as v from "valibot";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import { ok } from "../../src/protocol/outcome/result.ts";
import { beforeEachFile } from "../shared/fresh-state.ts";

/** Seats that are reserved. */
export const seats = new Set<string>();
beforeEachFile(() => seats.clear());

const seat = v.pipe(v.string(), v.minLength(1), v.maxLength(100));

const releaseSeat = defineTool({
  name: "lab__release_seat",
  version: "1.0.0",
  description: "Releases a seat.",
  input: v.strictObject({ seat, pin: v.string() }),
  output: v.strictObject({ released: v.boolean() }),
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: ["seat"], output: ["released"] },
  capabilities: [],
  idempotency: { supported: true },
  shownToModel: false,
  execute: (args) => ok({ released: seats.delete(args.seat) }),
});

/** A call that another tool can undo, with a PIN that only the tools may know. */
const reserveSeat = defineTool({
  name: "lab__reserve_seat",
  version: "1.0.0",
  description: "Reserves a seat.",
  input: v.strictObject({
    seat,
    pin: v.string(),
    /** What the author's `compensate` does wrong. */
    fault: v.optional(v.picklist(["throws", "does not fit"])),
  }),
  output: v.strictObject({ seat: v.string(), code: v.string() }),
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: ["seat"], output: ["seat"] },
  capabilities: [],
  transactional: { compensationTool: "lab__release_seat" },
  compensate({ pin, fault }, output) {
    if (fault === "throws") throw new Error(`no arguments for ${pin}`);
    return fault ? { row: output.seat } : { seat: output.seat, pin: `${pin}/${output.code}` };
  },
  execute(args) {
    seats.add(args.seat);
    return ok({ seat: args.seat, code: `code-of-${args.pin}` });
  },
});

export const LAB_UNDO: readonly AnyToolContract[] = [reserveSeat, releaseSeat];
