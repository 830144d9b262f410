import { say, type Text } from "../texts/say.ts";
import { type ApprovalInfo, joinNews } from "./info.ts";
import type { ApprovalDecision, ApprovalFailure, ApprovalsApi } from "./api.ts";
import { findRefusal } from "./labels.ts";

/** How often the page polls for an approval's end or successor, and how long it waits each time. */
const MAX_POLLS = 10;
const POLL_AFTER_MS = 700;
/** How often a card that no stream updates reads its open approval. Unit: ticks of one second. */
const READ_EVERY_TICKS = 5;

export interface ApprovalTrackerPorts {
  readonly api: ApprovalsApi;
  /** True while the reader looks at the approval, and no stream reports its news. */
  readonly needsReads: () => boolean;
  /** Draws the current state. */
  readonly draw: () => void;
  /** Called with a state that the server sent, once it is drawn. */
  readonly onChange: (approval: ApprovalInfo) => void;
  /** Called with the failure of the newest request; undefined when a decision is sent. */
  readonly onFailure: (failure: ApprovalFailure | undefined) => void;
}

const EDITED = "The arguments were changed. Review the new arguments.";
const ANSWERED = "The answer stands in the arguments.";
const CHANGED: Readonly<Record<string, Text>> = {
  terms_changed:
    "The rules for this call changed. Earlier votes do not count. Review what changed.",
  shown_changed:
    "What you were shown has changed since. Earlier votes do not count. Review what changed.",
};

let changes = 0;

/** Reads every open approval again, because rows changed that its call may need. */
export function readAgainSoon(): void {
  changes += 1;
}

/** Keeps one approval current, and follows it to the approval that replaces it. */
export class ApprovalTracker {
  readonly #ports: ApprovalTrackerPorts;
  #approval: ApprovalInfo;
  #message = "";
  #isSending = false;
  #reads = 0;
  #polls = 0;
  #ticks = 0;
  #changes = changes;
  /** Approvals that another one has replaced. Later news of them is ignored. */
  readonly #replaced = new Set<string>();

  constructor(ports: ApprovalTrackerPorts, first: ApprovalInfo) {
    this.#ports = ports;
    this.#approval = first;
  }

  get approval(): ApprovalInfo {
    return this.#approval;
  }

  /** The text about the last request, or empty. */
  get message(): string {
    return this.#message;
  }

  get isSending(): boolean {
    return this.#isSending;
  }

  /** Accepts news from an event or a list, and reads the rest from the server. */
  update(news: ApprovalInfo): void {
    const { approvalId, status, approvals } = this.#approval;
    const isSame = news.approvalId === approvalId;
    if (this.#replaced.has(news.approvalId)) return;
    if (isSame && news.status === status && news.approvals === approvals) return;
    if (!isSame) this.#message = "";
    this.#approval = joinNews(this.#approval, news);
    this.#ports.draw();
    void this.read();
  }

  /** Reads the approval. A read that nobody asked for does not show that it failed. */
  async read({ isQuiet = false } = {}): Promise<void> {
    this.#reads += 1;
    const own = this.#reads;
    const answer = await this.#ports.api.read(this.#approval.approvalId);
    if (own !== this.#reads) return;
    if (answer.ok) this.#accept(answer.value);
    else if (!isQuiet) this.#fail(answer.failure);
  }

  async decide(decision: ApprovalDecision): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    this.#message = "";
    this.#ports.onFailure(undefined);
    const answer = await this.#ports.api.decide(this.#approval.approvalId, decision);
    this.#isSending = false;
    // A read that is still in flight would show the state before the decision.
    this.#reads += 1;
    if (!answer.ok) return this.#fail(answer.failure);
    const { mayDecide: _, ...rest } = this.#approval;
    this.#approval = rest;
    this.#accept(answer.value);
    if (answer.value.mayDecide === undefined) void this.read();
  }

  /**
   * Called each second while the approval is open. Reads its end when its time is up by the clock
   * of the reader; the server decides it. Reads the votes of other people where no stream reports
   * them.
   */
  tick(): void {
    if (this.#isSending) return;
    this.#ticks += 1;
    const isLate = Date.parse(this.#approval.expiresAt) <= Date.now();
    if (isLate) {
      this.#polls += 1;
      if (this.#polls <= MAX_POLLS) void this.read();
      return;
    }
    const isDue = this.#ticks % READ_EVERY_TICKS === 0 && this.#ports.needsReads();
    if (isDue || this.#changes !== changes) void this.read({ isQuiet: true });
    this.#changes = changes;
  }

  #accept(news: ApprovalInfo): void {
    this.#approval = joinNews(this.#approval, news);
    this.#ports.draw();
    this.#ports.onChange(this.#approval);
    this.#follow();
  }

  /** What changed needs a new approval, which replaces this one. */
  #follow(): void {
    const {
      supersededBy,
      supersededBecause,
      asks: _asks,
      question: _question,
      ...known
    } = this.#approval;
    if (supersededBy === undefined) return this.#pollForSuccessor();
    const isAnswered = known.status === "answered";
    this.#message = say(isAnswered ? ANSWERED : (CHANGED[supersededBecause ?? ""] ?? EDITED));
    const { mayDecide: _, said: __, ...rest } = known;
    this.#polls = 0;
    this.#replaced.add(rest.approvalId);
    // Votes for the replaced approval do not count for its successor.
    const unvoted = { votes: [], approvals: 0 };
    this.#approval = { ...rest, ...unvoted, approvalId: supersededBy, status: "pending" };
    void this.read();
  }

  /** The run first has to request the new approval, which takes a moment. */
  #pollForSuccessor(): void {
    if (this.#approval.status !== "superseded") return;
    this.#polls += 1;
    if (this.#polls <= MAX_POLLS) setTimeout(() => void this.read(), POLL_AFTER_MS);
  }

  #fail(failure: ApprovalFailure): void {
    this.#message = findRefusal(failure.code) ?? failure.message;
    this.#ports.onFailure(failure);
    if (failure.approval) this.#accept(failure.approval);
    else this.#ports.draw();
  }
}
