import { sleep } from "./sleep.ts";
import { ANSWER_TIMEOUT_MS, type Target } from "./target.ts";

/** One call of a run, as far as undoing it is concerned. */
interface UndoneCall {
  readonly state: string;
  readonly undo?: { readonly status: string; readonly runId?: string };
}

/** Status 0: no answer came. */
interface Answer {
  readonly status: number;
  readonly runId: string | null;
  readonly body: unknown;
}

interface AskedRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Longest time until an undo has ended. Unit: milliseconds. */
const UNDONE_WITHIN_MS = 60_000;
const LOOK_AGAIN_MS = 50;
/** The person clicks again after so many looks. */
const LOOKS_PER_CLICK = 20;

/** A person who calls a tool and takes the call back, and clicks again when no answer comes. */
export class Undoer {
  readonly #target: Target;

  constructor(target: Target) {
    this.#target = target;
  }

  /** Calls a tool; returns the run of the call. Fails: throws when the call does not succeed. */
  async call(toolId: string, args: object, key: string): Promise<string> {
    const path = `/v1/tools/${toolId}/invoke`;
    const { status, runId, body } = await this.#send(path, { arguments: args }, key);
    if (status === 200 && runId !== null) return runId;
    throw new Error(`the call was answered with ${status}: ${JSON.stringify(body)}`);
  }

  /** Asks to undo the only call of a run. Status 0: no answer came. */
  undo(runId: string): Promise<{ readonly status: number; readonly runId: string | null }> {
    return this.#send(`/v1/runs/${runId}/invocations/inv_1/compensate`);
  }

  /** Looks until the call is undone, and clicks again and again. Undefined: it took too long. */
  async untilUndone(runId: string): Promise<UndoneCall | undefined> {
    const deadlineMs = Date.now() + UNDONE_WITHIN_MS;
    let last: UndoneCall | undefined;
    for (let looks = 1; Date.now() < deadlineMs; looks++) {
      last = (await this.#read(runId)) ?? last;
      if (last?.undo?.status === "undone") return last;
      if (looks % LOOKS_PER_CLICK === 0) await this.undo(runId);
      await sleep(LOOK_AGAIN_MS);
    }
    return last;
  }

  async #read(runId: string): Promise<UndoneCall | undefined> {
    const { body } = await this.#fetch(`/v1/runs/${runId}`, {});
    return (body as { readonly toolCalls?: readonly UndoneCall[] }).toolCalls?.[0];
  }

  async #send(path: string, body?: object, key?: string): Promise<Answer> {
    const headers = {
      ...(body && { "content-type": "application/json" }),
      ...(key !== undefined && { "idempotency-key": key }),
    };
    const init = { method: "POST", headers, ...(body && { body: JSON.stringify(body) }) };
    return this.#fetch(path, init);
  }

  async #fetch(path: string, { method, headers, body: sent }: AskedRequest): Promise<Answer> {
    const { url, token } = this.#target;
    try {
      const answer = await fetch(`${url}${path}`, {
        ...(method !== undefined && { method }),
        ...(sent !== undefined && { body: sent }),
        headers: { ...headers, authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      });
      const body: unknown = await answer.json().catch(() => ({}));
      return { status: answer.status, runId: answer.headers.get("x-run-id"), body };
    } catch {
      return { status: 0, runId: null, body: {} };
    }
  }
}
