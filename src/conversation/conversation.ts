import type {
  ConversationAnswer,
  ConversationMethods,
  ErasureAnswer,
  FeedbackAnswer,
  GivenFeedback,
  NoConversation,
  PageAnswer,
  RangeAnswer,
  SummaryAnswer,
  TurnAnswer,
  TurnRequest,
  TurnsAnswer,
  TurnsQuery,
  WindowAnswer,
  WrittenSummary,
} from "../capabilities/conversation.ts";
import type { SummaryJob } from "../protocol/conversation/summary-job.ts";
import {
  CLAIM_WITHIN_MS,
  type DeliveredPage,
  type FirstPost,
  type HistoryReference,
} from "../protocol/conversation/turn.ts";
import type { RunId } from "../protocol/identity/ids.ts";
import {
  isOwn,
  maySee,
  viewerOfOwner,
  type RunOwner,
  type Viewer,
} from "../protocol/identity/viewer.ts";
import type { FeedbackNotice } from "../protocol/run/tenant-notice.ts";
import { openTurn } from "./open-turn.ts";
import { beginErasure, continueErasure, type ErasurePorts } from "./erase-conversation.ts";
import { keepPage } from "./keep-page.ts";
import { loneTurn } from "./lone-turn.ts";
import { listTurns, summariseTurns } from "./show-turns.ts";
import type { ReadTurns, StoredTurns, Turn } from "./stored-turns.ts";
import { hasEnded } from "./path.ts";
import { keepSummary, readRange } from "./summaries.ts";
import { rereadWindow, type HashNow } from "./window.ts";

/** The first run of a conversation, whose object keeps the conversation. */
export interface FirstRun {
  readonly runId: RunId;
  readonly owner: RunOwner;
  readonly createdMs: number;
  /** The conversation that this run continues: it is not the first one. */
  readonly workflowId: RunId | undefined;
  /** How a repetition of its post is known. */
  readonly firstPost: FirstPost | undefined;
  /** Its page; `gone` once the run has shrunk, and `unknown` for a direct call. */
  page(): PageAnswer;
}

export interface ConversationPorts {
  readonly turns: StoredTurns;
  readonly first: FirstRun;
  /** The title that the owner gave. */
  readonly names: { read(): string | undefined; write(title: string): void };
  /** Tells the tenant's list of what was thought of an answer. */
  readonly tellFeedback: (notice: FeedbackNotice) => void;
  readonly files: {
    has(hash: string): boolean;
    put(hash: string, base64: string): void;
    read(hash: string): string | undefined;
  };
  readonly erasure: ErasurePorts["erasure"] & { readonly hasBegun: boolean };
  readonly runOf: ErasurePorts["runOf"];
  /** Reads the page of another run. */
  readonly pageOf: (runId: RunId, viewer: Viewer) => Promise<PageAnswer>;
  readonly hash: HashNow;
  readonly nowMs: () => number;
  /** Stores everything that `work` writes, or nothing of it. */
  readonly transaction: (work: () => void) => void;
}

/**
 * A conversation: its turns, and what the next one may be.
 * Ownership: one per object of a run. Contract: only the owner of a conversation continues it.
 */
export class Conversation implements ConversationMethods {
  readonly #ports: ConversationPorts;

  constructor(ports: ConversationPorts) {
    this.#ports = ports;
  }

  async openTurn(viewer: Viewer, request: TurnRequest): Promise<TurnAnswer> {
    const { first, turns, files, erasure, hash, nowMs } = this.#ports;
    if (!isOwn(first.owner, viewer)) return { kind: "unknown" };
    const { workflowId, runId: conversationId, owner } = first;
    if (workflowId !== undefined) return { kind: "elsewhere", conversationId: workflowId };
    if (erasure.hasBegun) return { kind: "erased" };
    const missing = this.#begin();
    if (missing) return missing;
    for (;;) {
      const keepsFile = (named: string): boolean => files.has(named);
      const ports = { conversationId, owner, turns, keepsFile, hash, nowMs: nowMs() };
      if (erasure.hasBegun) return { kind: "erased" };
      const opening = openTurn(ports, viewer, request);
      if (opening.kind !== "unsettled") return opening;
      if (!(await this.#settle(opening.turn))) return opening.answer;
    }
  }

  async readWindow(runId: RunId, history: HistoryReference): Promise<WindowAnswer> {
    const { turns, erasure, hash } = this.#ports;
    if (erasure.hasBegun) return { kind: "erased" };
    const turn = this.#find(runId);
    const before = turn && turn.parent !== null ? turns.at(turn.parent) : undefined;
    const window = before && hasEnded(before) && rereadWindow(turns, before, { history, hash });
    if (!window) return { kind: "erased" };
    const isSame = window.history.hash === history.hash;
    return isSame ? { kind: "window", messages: window.messages } : { kind: "changed" };
  }

  async readRange(runId: RunId, job: SummaryJob): Promise<RangeAnswer> {
    const { turns, erasure } = this.#ports;
    if (erasure.hasBegun) return { kind: "gone" };
    return readRange(turns, { turn: this.#find(runId), job });
  }

  async keepSummary(
    runId: RunId,
    job: SummaryJob,
    written: WrittenSummary,
  ): Promise<SummaryAnswer> {
    const { turns, erasure, hash, transaction } = this.#ports;
    let answer: SummaryAnswer = { kind: "gone" };
    if (erasure.hasBegun) return answer;
    const asked = { turn: this.#find(runId), job, written, hash };
    transaction(() => void (answer = keepSummary(turns, asked)));
    return answer;
  }

  async keepTurn(runId: RunId, delivered: DeliveredPage): Promise<void> {
    const turn = this.#find(runId);
    if (turn && !this.#ports.erasure.hasBegun) keepPage(this.#ports, turn, delivered);
  }

  async conversation(viewer: Viewer): Promise<ConversationAnswer> {
    const { first, names } = this.#ports;
    const turns = this.#shown(viewer);
    if ("kind" in turns) return turns;
    const about = { conversationId: first.runId, named: names.read() };
    const state = summariseTurns({ turns, viewer }, about);
    return state ? { kind: "conversation", state } : { kind: "unknown" };
  }

  async turns(viewer: Viewer, query: TurnsQuery): Promise<TurnsAnswer> {
    const turns = this.#shown(viewer);
    if ("kind" in turns) return turns;
    const { files } = this.#ports;
    const readFile = (hash: string): string | undefined => files.read(hash);
    const shown = { turns, viewer, ...(query.withFiles && { readFile }) };
    return { kind: "turns", page: listTurns(shown, query) };
  }

  async rename(viewer: Viewer, title: string): Promise<ConversationAnswer> {
    const { first, names, erasure, transaction } = this.#ports;
    if (!isOwn(first.owner, viewer) || first.workflowId !== undefined) return { kind: "unknown" };
    if (erasure.hasBegun) return { kind: "erased" };
    const missing = this.#begin();
    if (missing) return missing;
    transaction(() => names.write(title));
    return this.conversation(viewer);
  }

  async giveFeedback(viewer: Viewer, given: GivenFeedback): Promise<FeedbackAnswer> {
    const { first, turns, erasure, transaction, tellFeedback } = this.#ports;
    if (!isOwn(first.owner, viewer) || first.workflowId !== undefined) return { kind: "unknown" };
    if (erasure.hasBegun) return { kind: "erased" };
    const missing = this.#begin();
    if (missing) return missing;
    const { runId, feedback, at } = given;
    const turn = this.#find(runId);
    if (!turn?.others.every((owner) => isOwn(owner, viewer))) return { kind: "unknown_turn" };
    if (!hasEnded(turn)) return { kind: "busy" };
    const listed = { runId: turn.runId, conversationId: first.runId, actorId: viewer.actor, at };
    transaction(() => {
      turns.rate(turn.number, feedback);
      tellFeedback({
        type: "feedback",
        runId: turn.runId,
        feedback: feedback && { ...feedback, ...listed },
      });
    });
    return { kind: "given" };
  }

  async eraseConversation(viewer: Viewer): Promise<ErasureAnswer> {
    const { first, turns, erasure } = this.#ports;
    if (!isOwn(first.owner, viewer) || first.workflowId !== undefined) return { kind: "unknown" };
    if (!erasure.hasBegun) {
      const missing = this.#begin();
      if (missing) return missing;
      const isForeign = [...turns.newest()].some(({ owner }) => !isOwn(owner, viewer));
      if (isForeign) return { kind: "unknown" };
      const busy = await beginErasure(this.#ports);
      if (busy) return busy;
    }
    return { kind: "erasing", turnsLeft: await this.#erase() };
  }

  /** Deletes what is left of a deleted conversation. Answers true once nothing is. */
  async continueErasure(): Promise<boolean> {
    return (await this.#erase()) === 0;
  }

  async #erase(): Promise<number> {
    const { turns, erasure } = this.#ports;
    return erasure.hasBegun && turns.exist ? continueErasure(this.#ports) : 0;
  }

  /** The turns as a viewer reads them. A read stores nothing, so a lone first run stays alone. */
  #shown(viewer: Viewer): ReadTurns | NoConversation {
    const { first, turns, erasure } = this.#ports;
    if (!maySee(first.owner, viewer) || first.workflowId !== undefined) return { kind: "unknown" };
    if (erasure.hasBegun) return { kind: "erased" };
    if (turns.exist && hasEnded(turns.at(FIRST))) return turns;
    const answer = first.page();
    if (answer.kind === "unknown" || answer.kind === "gone") return answer;
    if (turns.exist) return turns;
    return loneTurn(this.#firstTurn(), answer.kind === "page" ? answer.delivered.page : undefined);
  }

  #firstTurn(): Turn {
    const { runId, owner, createdMs: openedMs, firstPost } = this.#ports.first;
    const place = { number: FIRST, parent: null, root: FIRST, depth: 0, others: [], end: null };
    return { ...place, runId, owner, openedMs, messageId: null, hash: null, ...firstPost };
  }

  /** Keeps the page of the first run, which is about to be deleted. */
  keepFirst(): void {
    const { first, erasure } = this.#ports;
    if (first.workflowId === undefined && !erasure.hasBegun) this.#begin();
  }

  /** When the newest turn was opened; undefined while the conversation is its first run. */
  lastTurnMs(): number | undefined {
    const { turns } = this.#ports;
    if (!turns.exist) return undefined;
    const [head] = turns.newest();
    return head?.openedMs;
  }

  /**
   * Makes the first run a turn, and keeps its page once it has ended. Answers what is missing: a
   * direct call is no conversation.
   */
  #begin(): { readonly kind: "unknown" | "gone" } | undefined {
    const { first, turns, transaction } = this.#ports;
    const [known] = turns.exist ? [turns.at(FIRST)] : [];
    if (known && hasEnded(known)) return undefined;
    const answer = first.page();
    if (answer.kind === "unknown" || answer.kind === "gone") return answer;
    transaction(() => {
      const turn = this.#firstTurn();
      if (!known) turns.add(turn);
      if (answer.kind === "page") keepPage(this.#ports, known ?? turn, answer.delivered);
    });
    return undefined;
  }

  /** Learns whether a turn has ended, or was never claimed. False: neither, so far. */
  async #settle({ runId, owner, openedMs }: Turn): Promise<boolean> {
    const { first, turns, nowMs, pageOf } = this.#ports;
    if (runId === first.runId) return false;
    const answer = await pageOf(runId, viewerOfOwner(owner));
    const turn = this.#find(runId);
    if (!turn || hasEnded(turn)) return true;
    if (answer.kind === "page") keepPage(this.#ports, turn, answer.delivered);
    else if (answer.kind === "unknown" && openedMs < nowMs() - 2 * CLAIM_WITHIN_MS) {
      turns.remove(turn.number);
    } else return false;
    return true;
  }

  #find(runId: string): Turn | undefined {
    const { turns } = this.#ports;
    return turns.exist ? turns.of(runId) : undefined;
  }
}

/** Number of the first run. */
const FIRST = 1;
