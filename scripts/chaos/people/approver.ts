import { APPROVERS, TOKENS } from "../host/deployment.ts";
import {
  hasQuestion,
  toolCallIdOf,
  type ChaosScript,
  type ScriptedCall,
} from "../world/scenario.ts";
import { ANSWER_TIMEOUT_MS, type SeenState, type Target } from "../client/target.ts";

interface Vote {
  readonly approvalId: string;
  readonly operation: number;
  readonly voter: keyof typeof VOTERS;
  readonly body: { readonly decision: "approve" | "answer" | "reject" };
}

/** A decision that was accepted. */
export interface AcceptedVote extends Pick<Vote, "operation"> {
  /** The person who decided, as the deployment knows that person. */
  readonly actorId: string;
  readonly decision: Vote["body"]["decision"];
}

const VOTERS = { ...APPROVERS, owner: TOKENS.chaos };
const APPROVE = { decision: "approve" } as const;
const ANSWER = { decision: "answer", answer: { voice: "low" } } as const;
/** As much as the policy offers. */
const CONSENT = { ...APPROVE, lasting: {} } as const;

/**
 * Plays the person and the two approvers of one run. The person answers each question, and consents
 * to other calls and to later ones. Ann raises the limit of the run and approves every call; Bob
 * then approves or rejects it, as the script says. They repeat each decision while the approval is
 * open, and once after the end.
 * Contract: no method throws, and all of them are safe to repeat.
 */
export class Approver {
  readonly #calls: ReadonlyMap<string, ScriptedCall>;
  readonly #accepted = new Map<string, Vote>();
  readonly #approved = new Set<number>();
  readonly #rejected = new Set<number>();
  /** Ids of the approvals by which a consent began that lasts. */
  readonly #consents = new Set<string>();
  readonly #problems: string[] = [];

  constructor({ steps }: Pick<ChaosScript, "steps">) {
    this.#calls = new Map(
      steps.flatMap(({ calls }, step) =>
        calls.map((call, index) => [toolCallIdOf(step, index), call] as const),
      ),
    );
  }

  /**
   * Operations for which all approvals were sent, or the answer. No other one of its class may run,
   * except by a consent that lasts.
   */
  get approved(): ReadonlySet<number> {
    return this.#approved;
  }

  /** Operations for which the rejection was sent. */
  get rejected(): ReadonlySet<number> {
    return this.#rejected;
  }

  /** How many consents that last were sent. */
  get consents(): number {
    return this.#consents.size;
  }

  /** All decisions that were accepted. */
  get accepted(): readonly AcceptedVote[] {
    return [...this.#accepted.values()].map(({ operation, voter, body }) => ({
      operation,
      actorId: voter === "owner" ? "user:chaos" : `user:${voter}`,
      decision: body.decision,
    }));
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
      if (call.effectClass === "asked") await this.#ask(target, approvalId, call);
      else await this.#approve(target, approvalId, call);
    }
  }

  /** Answers for the person of the run. */
  async #ask(target: Target, approvalId: string, { operation }: ScriptedCall): Promise<void> {
    this.#approved.add(operation);
    const isQuestion = hasQuestion(operation);
    if (!isQuestion) this.#consents.add(approvalId);
    const body = isQuestion ? ANSWER : CONSENT;
    await this.#vote(target, { approvalId, operation, voter: "owner", body });
  }

  async #approve(target: Target, approvalId: string, call: ScriptedCall): Promise<void> {
    const { operation } = call;
    const asked = { approvalId, operation };
    const stored = await this.#vote(target, { ...asked, voter: "ann", body: APPROVE });
    // A raise needs one person, and approves no call.
    if (!stored || stored.asks === "raise") return;
    (call.isRejected ? this.#rejected : this.#approved).add(operation);
    const body = call.isRejected ? ({ decision: "reject" } as const) : APPROVE;
    await this.#vote(target, { ...asked, voter: "bob", body });
  }

  /** Sends each decision again that was answered before. */
  async repeat(target: Target): Promise<void> {
    for (const vote of this.#accepted.values()) await this.#vote(target, vote);
  }

  /** Sends a decision. Returns the approval; undefined when the decision was not accepted. */
  async #vote({ url }: Target, vote: Vote): Promise<Decided | undefined> {
    const { approvalId, voter, body } = vote;
    const name = `${voter} ${body.decision}s ${approvalId}`;
    try {
      const answer = await fetch(`${url}/v1/approvals/${approvalId}/decisions`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${VOTERS[voter]}`,
          "content-type": "application/json",
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      });
      const text = await answer.text();
      if (answer.ok) this.#accepted.set(name, vote);
      else if (answer.status < 500 && (this.#accepted.has(name) || !isTooLate(text))) {
        this.#problems.push(`${name}, answered ${answer.status} ${text}`);
      }
      return answer.ok ? (JSON.parse(text) as Decided) : undefined;
    } catch {
      // The approval is still open, and the next look decides it.
      return undefined;
    }
  }
}

/** An approval after a decision. */
interface Decided {
  readonly asks?: string;
}

/**
 * Returns whether an approval closed without a decision, because its run ended. An approval that is
 * decided was decided by this very vote, whose repetition gets the first answer.
 */
function isTooLate(text: string): boolean {
  const { approval } = JSON.parse(text) as { readonly approval?: { readonly status: string } };
  return approval?.status === "withdrawn" || approval?.status === "expired";
}
