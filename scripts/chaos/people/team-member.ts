import { ask } from "../client/ask.ts";
import { TEAM } from "../host/deployment.ts";
import { sleep } from "../sleep.ts";
import type { Target } from "../client/target.ts";

/** One direct call of a tool. */
export interface TeamCall {
  readonly tool: string;
  readonly args: object;
  /** Idempotency key. */
  readonly key: string;
}

/** How a call ended. */
export interface CallEnd {
  readonly runId: string;
  readonly taxonomyClass: string;
  /** What the operation answered; an empty object when it failed. */
  readonly data: object;
  /** Codes of the errors. */
  readonly codes: readonly string[];
}

interface AnswerBody {
  readonly observation?: {
    readonly status: { readonly taxonomy_class: string };
    readonly result_payload: {
      readonly data: { readonly result?: { readonly data: object } } | null;
      readonly errors: readonly { readonly code: string }[];
    };
  };
  readonly toolCalls?: readonly { readonly approvalId?: string }[];
}

/** A call that has no end within this time fails the proof. Unit: milliseconds. */
const PATIENCE_MS = 120_000;
const POLL_MS = 50;

/** A member of the team, who repeats each request until it is answered. */
export class TeamMember {
  readonly #target: Target;

  constructor(target: Target) {
    this.#target = target;
  }

  /** As `carry`, of a call that must succeed. Returns what the operation answered. */
  async make<Data extends object>(call: TeamCall): Promise<Data> {
    const { taxonomyClass, codes, data } = await this.carry(call);
    if (taxonomyClass === "SUCCESS") return data as Data;
    throw new Error(`${call.key} ended with ${taxonomyClass}: ${codes.join()}`);
  }

  /** Makes a call and has it approved. Fails: throws when it does not end. */
  async carry(call: TeamCall, voters: readonly TeamMember[] = [this]): Promise<CallEnd> {
    for (const until = Date.now() + PATIENCE_MS; ;) {
      const { end, approvalId } = await this.#look(call);
      if (end) return end;
      if (Date.now() > until) throw new Error(`${call.key} has no end`);
      if (approvalId === undefined) await sleep(POLL_MS);
      else await Promise.all([...voters, ...voters].map((voter) => voter.#approve(approvalId)));
    }
  }

  /** Makes a call, and waits until people are asked about it. Fails: throws when nobody is. */
  async untilAsked(call: TeamCall): Promise<void> {
    for (const until = Date.now() + PATIENCE_MS; ;) {
      const { end, approvalId } = await this.#look(call);
      if (approvalId !== undefined) return;
      if (end || Date.now() > until) throw new Error(`nobody is asked about ${call.key}`);
      await sleep(POLL_MS);
    }
  }

  async #look({ tool, args, key }: TeamCall): Promise<{ end?: CallEnd; approvalId?: string }> {
    const answer = await ask(this.#target, `/v1/tools/${tool}/invoke`, {
      body: { arguments: args, workspaceId: TEAM },
      key,
    });
    const { observation, toolCalls } = answer.body as AnswerBody;
    if (answer.status !== 200 || !observation) {
      const approvalId = toolCalls?.[0]?.approvalId;
      return approvalId === undefined ? {} : { approvalId };
    }
    const { taxonomy_class: taxonomyClass } = observation.status;
    const { data, errors } = observation.result_payload;
    const codes = errors.map(({ code }) => code);
    const shown = data?.result?.data ?? data ?? {};
    return { end: { runId: answer.runId ?? "", taxonomyClass, codes, data: shown } };
  }

  async #approve(approvalId: string): Promise<void> {
    const body = { decision: "approve" };
    await ask(this.#target, `/v1/approvals/${approvalId}/decisions`, { body });
  }
}
