import { ask } from "../client/ask.ts";
import type { Target } from "../client/target.ts";
import { inFlight } from "../in-flight.ts";

const AT_ONCE = 4;

/** Why a run may not be decided again, as docs/audit.md names the reasons. */
const REASONS: ReadonlySet<string> = new Set(["policy_unavailable", "interrupted", "unclear"]);

/** What deciding runs again came to. */
export interface Replays {
  readonly equal: number;
  /** Runs whose records do not hold enough, with a reason that the guide names. */
  readonly refused: number;
  readonly problems: readonly string[];
}

/** Decides ended runs again. Each has to end alike, or to be refused with a reason. */
export async function replayEnded(target: Target, runIds: readonly string[]): Promise<Replays> {
  let [equal, refused] = [0, 0];
  const problems: string[] = [];
  await inFlight(AT_ONCE, runIds, async (runId) => {
    const { status, body } = await ask(target, `/v1/runs/${runId}/replay`, { method: "POST" });
    const { outcome, reason = "", difference } = body as ReplayBody;
    if (outcome === "equal") equal += 1;
    else if (status === 409 && REASONS.has(reason)) refused += 1;
    else problems.push(`${runId}: ${status} ${reason}${JSON.stringify(difference) ?? ""}`);
  });
  return { equal, refused, problems };
}

interface ReplayBody {
  readonly outcome?: string;
  readonly reason?: string;
  readonly difference?: object;
}
