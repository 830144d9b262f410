import { APPROVERS } from "../host/deployment.ts";
import { toolCallIdOf, type ChaosScript, type ScriptedCall } from "../world/scenario.ts";
import { ANSWER_TIMEOUT_MS, type SeenState, type Target } from "../client/target.ts";

interface Vote {
  readonly approvalId: string;
  readonly voter: keyof typeof APPROVERS;
  readonly decision: "approve" | "reject";
}

/**
 * Plays the two approvers of one run. Ann approves every call; Bob then approves or rejects it, as
 * the script says. They repeat each decision while the approval is open, and once after the end.
 * Contract: no method throws, and all of them are safe to repeat.
 */
export class Approver {
  readonly #calls: ReadonlyMap<string, ScriptedCall>;
  readonly #accepted = new Map<string, Vote>();
  readonly #approved = new Set<number>();
  readonly #rejected = new Set<number>();
  readonly #problems: string[] = [];

  constructor({ steps }: Pick<ChaosScript, "steps">) {
    this.#calls = new Map(
      steps.flatMap(({ calls }, step) =>
        calls.map((call, index) => [toolCallIdOf(step, index), call] as const),
      ),
    );
  }

  /** Operations for which both approvals were sent. No other one of its class may run. */
  get approved(): ReadonlySet<number> {
    return this.#approved;
  }

  /** Operations for which the rejection was sent. */
  get rejected(): ReadonlySet<number> {
    return this.#rejected;
  }

  /** Answers to decisions that break a promise. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** Decides what is open now. */
  async decide(target: Target, { toolCalls }: SeenState): Promise<void> {
    for (const { toolCallId, approvalId } of toolCalls) {
      const call = this.#calls.get(toolCallId);
      if (!call || approvalId === undefined) continue;
      const isFirstStored = await this.#vote(target, {
        approvalId,
        voter: "ann",
        decision: "approve",
      });
      if (!isFirstStored) continue;
      (call.isRejected ? this.#rejected : this.#approved).add(call.operation);
      const decision = call.isRejected ? "reject" : "approve";
      await this.#vote(target, { approvalId, voter: "bob", decision });
    }
  }

  /** Sends each decision again that was answered before. */
  async repeat(target: Target): Promise<void> {
    for (const vote of this.#accepted.values()) await this.#vote(target, vote);
  }

  /** Sends a decision. Returns whether it was accepted. */
  async #vote({ url }: Target, vote: Vote): Promise<boolean> {
    const { approvalId, voter, decision } = vote;
    const name = `${voter} ${decision}s ${approvalId}`;
    try {
      const answer = await fetch(`${url}/v1/approvals/${approvalId}/decisions`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${APPROVERS[voter]}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({ decision }),
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      });
      const text = await answer.text();
      if (answer.ok) this.#accepted.set(name, vote);
      else if (answer.status < 500 && (this.#accepted.has(name) || !isTooLate(text))) {
        this.#problems.push(`${name}, answered ${answer.status} ${text}`);
      }
      return answer.ok;
    } catch {
      // The approval is still open, and the next look decides it.
      return false;
    }
  }
}

/**
 * Returns whether an approval closed without a decision, because its run ended. An approval that is
 * decided was decided by this very vote, whose repetition gets the first answer.
 */
function isTooLate(text: string): boolean {
  const { approval } = JSON.parse(text) as { readonly approval?: { readonly status: string } };
  return approval?.status === "withdrawn" || approval?.status === "expired";
}
