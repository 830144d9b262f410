import { fingerprintKey } from "../host/key-fingerprint.ts";
import { seededRandom } from "../seeded-random.ts";
import {
  ANSWER_TIMEOUT_MS,
  type LedgerRow,
  type SeenState,
  type Target,
} from "../client/target.ts";
import type { World } from "../world/world.ts";

/** Percentage of unknown outcomes that nobody resolves, so that they expire. */
const LEFT_ALONE_PERCENT = 20;

/** Plays the operator: resolves unknown outcomes by what the world counted. */
export class Operator {
  readonly #world: Pick<World, "effects" | "settled">;
  readonly #seed: number;
  readonly #reports: Report[] = [];

  constructor(world: Pick<World, "effects" | "settled">, seed: number) {
    this.#world = world;
    this.#seed = seed;
  }

  /** The outcomes that were reported about a run, and accepted. */
  reportsOf(runId: string): readonly Report[] {
    return this.#reports.filter((report) => report.runId === runId);
  }

  /** Resolves what can be resolved now. Contract: never throws; safe to repeat. */
  async resolve(target: Target, { runId, toolCalls }: SeenState): Promise<void> {
    for (const row of toolCalls) {
      if (row.awaitsOutcomeUntil === undefined || row.invocationId === undefined) continue;
      const name = `${row.idempotencyKeyHash}/${row.toolCallId}`;
      if (seededRandom(this.#seed, name).chance(LEFT_ALONE_PERCENT)) continue;
      const outcome = await this.#findOut(runId, row);
      if (!outcome) continue;
      const report = { runId, invocationId: row.invocationId, outcome };
      if (await tell(target, report)) this.#reports.push(report);
    }
  }

  /** Looks into the book only after the requests that were sent before have had their effects. */
  async #findOut(runId: string, row: LedgerRow): Promise<Outcome | undefined> {
    const { effects, settled } = this.#world;
    await settled();
    for (const { key } of effects.ofRun(runId)) {
      if ((await fingerprintKey(runId, key)) !== row.idempotencyKeyHash) continue;
      const state = effects.stateOf(key);
      return state === "pending"
        ? undefined
        : state === "committed"
          ? "committed"
          : "not_committed";
    }
    return "not_committed";
  }
}

type Outcome = "committed" | "not_committed";

/** What an operator reported about a call. */
export interface Report {
  readonly runId: string;
  readonly invocationId: string;
  readonly outcome: Outcome;
}

/** Sends a report. Returns whether it was accepted. */
async function tell({ url, token }: Target, report: Report): Promise<boolean> {
  const { runId, invocationId, outcome } = report;
  try {
    const answer = await fetch(`${url}/v1/runs/${runId}/invocations/${invocationId}/outcome`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ outcome }),
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    // The outcome is still open, and the next look resolves it.
    return false;
  }
}
