import { formatArguments } from "../../src/protocol/approval/packet-lines.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import type { Reply } from "./scripted-approvals.ts";

const SETTLE = /^\/v1\/runs\/([^/]+)\/invocations\/([^/]+)\/outcome$/;

/** A fake of the API's unknown outcomes. */
export class ScriptedOutcomes {
  readonly #calls = new Map<string, object>();
  /** True: the caller has no scope for them. */
  isForbidden = false;
  /** When set, this answers reports instead. */
  onSettle: (() => Reply) | undefined;

  put(
    runId: string,
    {
      toolId = "desk__open_ticket",
      args = {},
      found,
      until = new Date(Date.now() + 3_600_000).toISOString(),
      ...more
    }: {
      toolId?: string;
      args?: JsonObject;
      undo?: JsonObject;
      found?: JsonObject;
      until?: string;
    } = {},
  ): void {
    const call = {
      runId,
      invocationId: "inv_1",
      toolCallId: "call_1",
      toolId,
      toolVersion: "1.0.0",
      owner: "desk team",
      arguments: args,
      lines: formatArguments({ shown: args, withheld: [] }),
      ...(found && { mismatch: { lines: formatArguments({ shown: found, withheld: [] }) } }),
      attempts: 3,
      requestedBy: "user:cleo",
      dispatchedAt: new Date(Date.now() - 60_000).toISOString(),
      awaitsOutcomeUntil: until,
      ...more,
    };
    this.#calls.set(runId, call);
  }

  owns(path: string): boolean {
    return path.startsWith("/v1/outcomes") || SETTLE.test(path);
  }

  answer({ path }: { readonly path: string }): Reply {
    if (this.isForbidden) return { status: 403, body: { code: "insufficient_scope" } };
    const [, runId] = SETTLE.exec(path) ?? [];
    if (runId === undefined) return { status: 200, body: { outcomes: [...this.#calls.values()] } };
    return this.onSettle?.() ?? { status: 200, body: { runId } };
  }
}
