import type { DispatchTicket, AttemptScope } from "../../capabilities/tool.ts";
import type { ToolId } from "../../protocol/identity/ids.ts";
import type { ToolInvocationContext } from "../../protocol/invocation/record.ts";
import type { JsonObject } from "../../protocol/json/value.ts";

/** One call of one tool version that passed every gate and is recorded as dispatched. */
export interface DispatchedCall {
  readonly toolId: ToolId;
  readonly version: string;
  /** Validated, not redacted. */
  readonly args: JsonObject;
  readonly context: ToolInvocationContext;
  readonly scope: AttemptScope;
}

const issued = new WeakMap<DispatchTicket, DispatchedCall>();

/**
 * Issues the ticket that a bound tool demands before it runs (seeds/000 #31).
 * Ownership: only src/runner/execute-call.ts calls this function. A text search in
 * test/single-path.node.test.ts enforces that.
 */
export function issueTicket(call: DispatchedCall): DispatchTicket {
  const ticket = Object.freeze({}) as DispatchTicket;
  issued.set(ticket, call);
  return ticket;
}

/**
 * Takes a ticket back in exchange for the call that it stands for.
 * Contract: throws for a ticket that was not issued here, was redeemed before, or is for another
 * tool.
 */
export function redeemTicket(
  ticket: DispatchTicket,
  tool: { readonly id: ToolId; readonly version: string },
): DispatchedCall {
  const call = issued.get(ticket);
  if (!call) throw new Error(`${tool.id} runs only for a call that the runner dispatched`);
  if (call.toolId !== tool.id || call.version !== tool.version) {
    throw new Error(`a ticket for ${call.toolId} ${call.version} does not run ${tool.id}`);
  }
  issued.delete(ticket);
  return call;
}
