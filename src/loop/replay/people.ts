import type { ApprovalRecord } from "../../protocol/approval/record.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { RunEvidence } from "./evidence.ts";

/**
 * What people decided in a run, given to its replay one after the other: the requests about each
 * call with their votes, edits and answers, and what operators reported.
 * Ownership: one replay. A vote is known from the beginning. An edit, an answer and a report change
 * a call, so the replay first comes to the point at which the run waited for them.
 */
export class RecordedPeople {
  readonly #evidence: RunEvidence;
  /** The requests about each call, in order. */
  readonly #requests: ReadonlyMap<number, readonly ApprovalRecord[]>;
  /** How many edits and answers of a call the replay has taken. */
  readonly #taken = new Map<number, number>();
  /** Calls that wait for an edit or an answer. */
  readonly #awaited = new Set<number>();

  constructor(evidence: RunEvidence) {
    this.#evidence = evidence;
    this.#requests = Map.groupBy(evidence.approvals ?? [], ({ invocation }) => invocation);
  }

  /** Finds the request about a call that is the newest at this point of the replay. */
  newest(invocation: number): ApprovalRecord | undefined {
    const requests = this.#requests.get(invocation) ?? [];
    const next = requests.find((request) => request === this.#nextChange(invocation));
    if (next) {
      this.#awaited.add(invocation);
      return reopen(next);
    }
    return requests.at(-1);
  }

  /** Reads the arguments that a model gave a call, before people changed them. */
  proposedText({ number, argumentsText }: ToolInvocationRecord): string {
    return this.#changes(number)[0]?.edit?.replacedText ?? argumentsText;
  }

  /** Changes the open calls that wait as people changed them. Contract: each decision once. */
  decide(open: readonly ToolInvocationRecord[]): readonly ToolInvocationRecord[] {
    return open.flatMap((record) => this.#resolve(record) ?? this.#change(record) ?? []);
  }

  /** The operator's report about a call that waits for one. */
  #resolve(record: ToolInvocationRecord): ToolInvocationRecord | undefined {
    if (record.awaitedUntilMs === undefined || record.resolution) return undefined;
    const { resolution } = this.#recorded(record) ?? {};
    return resolution && { ...record, resolution };
  }

  #change(record: ToolInvocationRecord): ToolInvocationRecord | undefined {
    const { number } = record;
    const change = this.#awaited.delete(number) ? this.#nextChange(number) : undefined;
    const recorded = this.#recorded(record);
    if (!change || !recorded) return undefined;
    this.#taken.set(number, (this.#taken.get(number) ?? 0) + 1);
    const argumentsText = this.#nextChange(number)?.edit?.replacedText ?? recorded.argumentsText;
    if (change.status === "answered") {
      return { ...record, argumentsText, truncated: false, answer: change.answer ?? {} };
    }
    const { proposedText = record.argumentsText } = record;
    return { ...record, argumentsText, truncated: false, proposedText };
  }

  #recorded({ step, toolCallId }: ToolInvocationRecord): ToolInvocationRecord | undefined {
    return this.#evidence.invocations.find(
      (one) => one.step === step && one.toolCallId === toolCallId,
    );
  }

  #nextChange(invocation: number): ApprovalRecord | undefined {
    return this.#changes(invocation)[this.#taken.get(invocation) ?? 0];
  }

  #changes(invocation: number): readonly ApprovalRecord[] {
    return (this.#requests.get(invocation) ?? []).filter(({ edit }) => edit !== undefined);
  }
}

/** Shows a request as it was before people changed the arguments of its call. */
function reopen(record: ApprovalRecord): ApprovalRecord {
  const { edit: _edit, answer: _answer, votes: _votes, ...asked } = record;
  return { ...asked, status: "pending", votes: [], expiresAtMs: Number.POSITIVE_INFINITY };
}
