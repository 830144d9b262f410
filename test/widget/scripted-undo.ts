import type { Reply } from "./scripted-approvals.ts";

const PATH = /^\/v1\/runs\/(\w+)(\/invocations\/inv_1\/compensate)?$/;

/** The only call of a run, as the API shows it. */
export interface ScriptedCall {
  readonly undo?: { readonly status: string; readonly toolId: string; readonly runId?: string };
  readonly approvalId?: string;
  /** What the model had read before it asked for the call. */
  readonly after?: readonly object[];
}

/** A fake of the states of runs, and of undo. A run that is not put here does not exist. */
export class ScriptedUndo {
  readonly #calls = new Map<string, ScriptedCall>();
  /** What a request to undo does, and answers. */
  onUndo: (runId: string) => Reply = () => ({ status: 200, body: {} });

  /** Sets the only call of a run. */
  put(runId: string, call: ScriptedCall): void {
    this.#calls.set(runId, call);
  }

  owns(path: string): boolean {
    return PATH.test(path);
  }

  answer({ path }: { readonly path: string }): Reply {
    const [, runId = "", undo] = PATH.exec(path) ?? [];
    if (undo !== undefined) return this.onUndo(runId);
    const call = this.#calls.get(runId);
    if (!call) return { status: 404, body: { code: "run_not_found" } };
    const toolCalls = [{ toolCallId: "call_0", invocationId: "inv_1", ...call }];
    return { status: 200, body: { runId, toolCalls } };
  }
}
