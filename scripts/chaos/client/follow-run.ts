import { Approver } from "../people/approver.ts";
import type { Operator } from "../people/operator.ts";
import type { ChaosScript } from "../world/scenario.ts";
import { sleep } from "../sleep.ts";
import {
  askUnderKey,
  hasEnded,
  readState,
  type Asked,
  type SeenState,
  type Target,
} from "./target.ts";

/** An ended run as its client sees it. */
export interface FollowedRun {
  readonly script: ChaosScript;
  readonly state: SeenState;
  /** Stream that a client gets now under the run's idempotency key. */
  readonly stream: string;
  /** Stream that one client read without interruption. Undefined when every stream broke off. */
  readonly uncut: string | undefined;
  /** What the approvers did. */
  readonly approver: Pick<Approver, "accepted" | "approved" | "rejected" | "consents" | "problems">;
}

export interface FollowOptions {
  readonly operator: Operator;
  /**
   * Waits, after a broken stream, until the run has ended. Undefined repeats the request at once.
   */
  readonly waitForEnd?: ((runId: string) => Promise<void>) | undefined;
}

/** Longest time that a run may take. Unit: milliseconds. */
const PATIENCE_MS = 150_000;
const FIRST_POLL_MS = 50;
const LAST_POLL_MS = 1_000;

/**
 * Carries a run to its end as a client would: asks under one key until the whole stream came,
 * follows the run meanwhile, and has the operator and the approvers answer.
 * Fails: throws when the run does not end, or a request is refused.
 */
export async function followRun(
  target: Target,
  script: ChaosScript,
  { operator, waitForEnd }: FollowOptions,
): Promise<FollowedRun> {
  const request = { key: script.id, body: bodyOf(script) };
  let deadlineMs = Date.now() + PATIENCE_MS;
  const approver = new Approver(script);
  const look = async (runId: string): Promise<SeenState | undefined> => {
    const state = await readState(target, runId);
    if (state?.status === "waiting") {
      await operator.resolve(target, state);
      await approver.decide(target, state);
    }
    if (!hasEnded(state) && Date.now() > deadlineMs)
      throw new Error(`no end: ${JSON.stringify(state)}`);
    return state;
  };
  let uncut: string | undefined;
  for (;;) {
    const asked: Asked = await askUnderKey(target, request, async (runId) => {
      await look(runId).catch(() => undefined);
    });
    if (asked.kind === "refused") throw new Error(`refused: ${asked.status} ${asked.code}`);
    if (asked.kind === "stream") uncut ??= asked.stream;
    const { runId } = asked;
    if (runId === undefined) {
      if (Date.now() > deadlineMs) throw new Error("no run id: nobody answers");
      await sleep(FIRST_POLL_MS);
      continue;
    }
    if (asked.kind === "lost" && waitForEnd) {
      await waitForEnd(runId);
      deadlineMs = Date.now() + PATIENCE_MS;
    }
    let state = await look(runId);
    for (let pollMs = FIRST_POLL_MS; !hasEnded(state); pollMs *= 1.5) {
      await sleep(Math.min(pollMs, LAST_POLL_MS));
      state = await look(runId);
    }
    await approver.repeat(target);
    const again = await askUnderKey(target, request, () => Promise.resolve());
    if (again.kind === "stream") return { script, state, stream: again.stream, uncut, approver };
    if (again.kind !== "lost") throw new Error(`not replayed: ${JSON.stringify(again)}`);
  }
}

/** The body of the chat request that starts a script. */
export function bodyOf(script: ChaosScript): string {
  const messages = [{ role: "user", content: JSON.stringify(script) }];
  return JSON.stringify({ ...(script.model !== undefined && { model: script.model }), messages });
}
