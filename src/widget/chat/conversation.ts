import type { StreamedEvent } from "../../wire/assistant-transport/read-chunks.ts";
import type { ChatApi, KeyedRequest } from "./api.ts";
import { fail } from "../../protocol/outcome/result.ts";
import { type FollowEnd, type FollowPorts, followRun, type FollowTask } from "./follow-run.ts";
import type { SavedTurn } from "./session-store.ts";
import { createTellRun, type TellPorts, type TellRun } from "./steer-run.ts";
import { type AnswerState, applyChunk, EMPTY_ANSWER } from "./view-state.ts";

/** How a turn stands with the server. `broken` carries its reason in `problem`. */
export type Link = "opening" | "open" | "reconnecting" | "token_needed" | "broken" | "done";

/** One question and what came of it. Replaced, never changed. */
export interface Turn {
  readonly key: number;
  readonly question: string;
  readonly answer: AnswerState;
  readonly link: Link;
  readonly runId?: string;
  readonly lastEventId?: string;
  /** What it is asked under, as long as it is the same question; set when it is first sent. */
  readonly request?: KeyedRequest;
  /** The conversation before it was not there any more. */
  readonly startsAfresh?: boolean;
  /** The server does not keep its run any more. */
  readonly isGone?: boolean;
  readonly problem?: string;
}

export interface ConversationPorts extends FollowPorts, TellPorts {
  readonly api: ChatApi;
  readonly save: (turns: readonly SavedTurn[]) => void;
  readonly onChange: () => void;
  /** False where the page provides the token, so that the reader cannot be asked for one. */
  readonly canAskForToken: () => boolean;
}

const TOKEN_REFUSED = "The server did not accept this page's access token.";
const GONE = "This answer is not kept any more at the server. Try again to have it asked afresh.";
const UNSENT =
  "It is not known whether this question was sent. Try again: it will not be asked twice.";

type Opened = Awaited<ReturnType<ChatApi["events"]>>;

/** Tells whether a turn still expects something from the server. */
export function isActive(turn: Turn): boolean {
  return turn.link === "opening" || turn.link === "open" || turn.link === "reconnecting";
}

/** A conversation: its turns, and the requests that carry them on. */
export class Conversation {
  readonly #ports: ConversationPorts;
  #turns: readonly Turn[] = [];
  #lifetime = new AbortController();
  #nextKey = 0;
  #stopRequested = false;
  #notice = "";
  readonly #tell: TellRun;

  constructor(ports: ConversationPorts) {
    this.#ports = ports;
    this.#tell = createTellRun(ports);
  }

  get turns(): readonly Turn[] {
    return this.#turns;
  }

  get isBusy(): boolean {
    return this.#turns.some(isActive);
  }

  get isStopping(): boolean {
    return this.#stopRequested;
  }

  /** Something that went wrong outside any answer; empty when nothing did. */
  get notice(): string {
    return this.#notice;
  }

  /** Takes a saved conversation up again: every answer is read from the start of its events. */
  restore(saved: readonly SavedTurn[]): void {
    this.#turns = saved.map((turn) => ({ ...this.#newTurn(turn.question), ...turn }));
    for (const turn of this.#turns) {
      if (turn.runId !== undefined) this.#follow(turn);
      else this.#patch(turn.key, { link: "broken", problem: UNSENT });
    }
    this.#ports.onChange();
  }

  ask(question: string): void {
    if (this.isBusy) return;
    this.#notice = "";
    const turn = this.#newTurn(question);
    this.#turns = [...this.#turns, turn];
    this.#save();
    this.#follow(turn);
    this.#ports.onChange();
  }

  /**
   * Says something to the answer that is on its way; its stream then shows it. Answers whether it was
   * taken: what was not is still the reader's to send.
   */
  async steer(message: string): Promise<boolean> {
    const turn = this.#turns.findLast(isActive);
    if (turn?.runId === undefined) return false;
    this.#notice = "";
    const { signal } = this.#lifetime;
    const told = await this.#tell(turn.runId, message, signal);
    if (told.ok) return true;
    if (!signal.aborted) this.#notice = `The message was not sent. ${told.failure.message}`;
    this.#ports.onChange();
    return false;
  }

  /** Takes a broken turn up where it stands; asks again when its run failed, is gone or never began. */
  retry(key: number): void {
    const turn = this.#find(key);
    if (!turn || isActive(turn)) return;
    // Of a question without a run nobody knows whether it was asked, so it stays the same question.
    const isSame = !turn.isGone && (turn.runId === undefined || !turn.answer.done);
    const next: Turn = isSame
      ? { ...turn, link: "opening" }
      : { key, question: turn.question, answer: EMPTY_ANSWER, link: "opening" };
    this.#turns = this.#turns.map((other) => (other.key === key ? next : other));
    this.#save();
    this.#follow(next);
    this.#ports.onChange();
  }

  /** Goes on with every turn that waits for a token. */
  unlock(): void {
    for (const turn of this.#turns) if (turn.link === "token_needed") this.retry(turn.key);
  }

  /** Cancels what runs; its stream then ends by itself. A run without an id yet is cancelled once it has one. */
  stop(): void {
    if (!this.isBusy || this.#stopRequested) return;
    this.#stopRequested = true;
    for (const turn of this.#turns) if (isActive(turn) && turn.runId) void this.#cancel(turn.runId);
    this.#ports.onChange();
  }

  /** Forgets the conversation; a run that nobody can see any more is cancelled. */
  clear(): void {
    for (const turn of this.#turns) {
      if (isActive(turn) && turn.runId) void this.#ports.api.cancel(turn.runId);
    }
    this.dispose();
    this.#lifetime = new AbortController();
    this.#turns = [];
    this.#stopRequested = false;
    this.#notice = "";
    this.#save();
    this.#ports.onChange();
  }

  /** Ends every request; runs go on at the server. */
  dispose(): void {
    this.#lifetime.abort();
  }

  #newTurn(question: string): Turn {
    this.#nextKey += 1;
    return { key: this.#nextKey, question, answer: EMPTY_ANSWER, link: "opening" };
  }

  #follow(turn: Turn): void {
    const { key, question } = turn;
    const { signal } = this.#lifetime;
    const task: FollowTask = {
      open: (connection: AbortSignal) => this.#open(key, question, connection),
      isDone: () => this.#find(key)?.answer.done !== undefined,
      onEvents: (events) => this.#apply(key, events),
      onLink: (link) => this.#patch(key, { link }),
      signal,
    };
    void followRun(task, this.#ports).then((end) => this.#settle(key, end));
  }

  async #open(key: number, question: string, signal: AbortSignal): Promise<Opened> {
    const { runId } = this.#find(key) ?? {};
    if (runId !== undefined) return this.#openRun(key, runId, signal);
    const started = await this.#start(key, question, signal);
    if (!started.ok || started.value.runId === undefined) return started;
    this.#learnRunId(key, started.value.runId);
    return started.value.body ? started : this.#openRun(key, started.value.runId, signal);
  }

  async #openRun(key: number, runId: string, signal: AbortSignal): Promise<Opened> {
    const { lastEventId } = this.#find(key) ?? {};
    const opened = await this.#ports.api.events(runId, { lastEventId, signal });
    return this.#noteGone(key, opened);
  }

  #noteGone(key: number, opened: Opened): Opened {
    if (opened.ok || opened.failure.code !== "gone") return opened;
    this.#patch(key, { isGone: true });
    return fail({ ...opened.failure, message: GONE });
  }

  /** Asks under a key that stays that of the question; without what went before, where that is gone. */
  async #start(key: number, question: string, signal: AbortSignal): Promise<Opened> {
    const { api } = this.#ports;
    const known = this.#find(key)?.request;
    const request = known ?? this.#newRequest(key, this.#runBefore(key));
    const started = await api.start(question, { request, signal });
    // The run of a question that was sent before may itself be the one that is gone.
    const isOwn = known !== undefined || request.previousRunId === undefined;
    if (isOwn) return this.#noteGone(key, started);
    if (started.ok || started.failure.code !== "gone") return started;
    this.#patch(key, { startsAfresh: true });
    return api.start(question, { request: this.#newRequest(key, undefined), signal });
  }

  #newRequest(key: number, previousRunId: string | undefined): KeyedRequest {
    const request = { key: this.#ports.newKey(), ...(previousRunId && { previousRunId }) };
    this.#patch(key, { request });
    this.#save();
    return request;
  }

  /** The last finished run before a turn: its transcript is what the turn continues. */
  #runBefore(key: number): string | undefined {
    const before = this.#turns.filter((turn) => turn.key < key && turn.answer.done);
    return before.at(-1)?.runId;
  }

  #learnRunId(key: number, runId: string): void {
    if (this.#find(key)?.runId === runId) return;
    this.#patch(key, { runId });
    this.#save();
    if (this.#stopRequested) void this.#cancel(runId);
  }

  #apply(key: number, events: readonly StreamedEvent[]): void {
    const turn = this.#find(key);
    const lastEventId = events.at(-1)?.id;
    if (!turn || lastEventId === undefined) return;
    const answer = events.flatMap((event) => event.chunks).reduce(applyChunk, turn.answer);
    this.#patch(key, { answer, lastEventId });
    if (answer.runId !== undefined) this.#learnRunId(key, answer.runId);
  }

  #settle(key: number, end: FollowEnd): void {
    if (end.kind === "aborted") return;
    if (end.kind === "broken") this.#patch(key, { link: "broken", problem: end.message });
    else if (end.kind === "token_needed" && !this.#ports.canAskForToken()) {
      this.#patch(key, { link: "broken", problem: TOKEN_REFUSED });
    } else this.#patch(key, { link: end.kind });
    if (!this.isBusy) this.#stopRequested = false;
    this.#ports.onChange();
  }

  async #cancel(runId: string): Promise<void> {
    this.#notice = "";
    const { signal } = this.#lifetime;
    const cancelled = await this.#ports.api.cancel(runId);
    if (cancelled.ok || signal.aborted || !this.isBusy) return;
    this.#stopRequested = false;
    this.#notice = `The answer could not be stopped. ${cancelled.failure.message}`;
    this.#ports.onChange();
  }

  #find(key: number): Turn | undefined {
    return this.#turns.find((turn) => turn.key === key);
  }

  #patch(key: number, change: Partial<Turn>): void {
    this.#turns = this.#turns.map((turn) => (turn.key === key ? { ...turn, ...change } : turn));
    this.#ports.onChange();
  }

  #save(): void {
    const saved = this.#turns.map(({ question, runId, request }) => ({
      question,
      ...(runId ? { runId } : request && { request }),
    }));
    this.#ports.save(saved);
  }
}
