import { ask, type Answer } from "../client/ask.ts";
import { sleep } from "../sleep.ts";
import type { Target } from "../client/target.ts";

/** One call of a run, as far as undoing it is concerned. */
interface UndoneCall {
  readonly state: string;
  readonly undo?: { readonly status: string; readonly runId?: string };
}

/** Longest time until a call, or an undo, has ended. Unit: milliseconds. */
const ENDED_WITHIN_MS = 60_000;
const LOOK_AGAIN_MS = 50;
/** The person clicks again after so many looks. */
const LOOKS_PER_CLICK = 20;

/** A person who calls a tool and takes the call back, and clicks again when no answer comes. */
export class Undoer {
  readonly #target: Target;

  constructor(target: Target) {
    this.#target = target;
  }

  /**
   * Calls a tool under one key until the call has ended; returns its run. Fails: throws when the
   * call does not end.
   */
  async call(toolId: string, args: object, key: string): Promise<string> {
    const deadlineMs = Date.now() + ENDED_WITHIN_MS;
    for (;;) {
      const path = `/v1/tools/${toolId}/invoke`;
      const { status, runId, body } = await ask(this.#target, path, {
        body: { arguments: args },
        key,
      });
      if (status === 200 && runId !== null) return runId;
      if (Date.now() > deadlineMs) {
        throw new Error(`the call was answered with ${status}: ${JSON.stringify(body)}`);
      }
      await sleep(LOOK_AGAIN_MS);
    }
  }

  /** Asks to undo the only call of a run. */
  undo(runId: string): Promise<Answer> {
    return ask(this.#target, `/v1/runs/${runId}/invocations/inv_1/compensate`, { method: "POST" });
  }

  /**
   * Looks until an undo of the call has ended, and clicks again and again until one began. Returns
   * the last look.
   */
  async untilUndone(runId: string): Promise<UndoneCall | undefined> {
    const deadlineMs = Date.now() + ENDED_WITHIN_MS;
    let last: UndoneCall | undefined;
    for (let looks = 1; Date.now() < deadlineMs; looks++) {
      last = (await this.#read(runId)) ?? last;
      if (last && ENDS.has(last.undo?.status ?? "")) return last;
      if (looks % LOOKS_PER_CLICK === 0) await this.undo(runId);
      await sleep(LOOK_AGAIN_MS);
    }
    return last;
  }

  async #read(runId: string): Promise<UndoneCall | undefined> {
    const { body } = await ask(this.#target, `/v1/runs/${runId}`);
    return (body as { readonly toolCalls?: readonly UndoneCall[] }).toolCalls?.[0];
  }
}

/** An undo with one of these does not go on. */
const ENDS: ReadonlySet<string> = new Set(["undone", "stale", "failed"]);
