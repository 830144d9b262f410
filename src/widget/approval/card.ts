import { createApprovalForm } from "./form.ts";
import { type ApprovalInfo, joinNews } from "./info.ts";
import type { ApprovalFailure, ApprovalsApi, Decision } from "./api.ts";
import {
  formatDemand,
  formatEnd,
  refusalOf,
  formatStanding,
  formatRisk,
  formatTimeLeft,
} from "./labels.ts";
import { el, setText } from "../dom.ts";
import { drawPacket } from "./packet-view.ts";

export interface ApprovalCard {
  readonly root: HTMLElement;
  /** Takes what an event or a list tells, and asks for the rest. */
  update(news: ApprovalInfo): void;
}

export interface ApprovalCardPorts {
  readonly api: ApprovalsApi;
  /** Told of each change that the card learns of first, once it is shown. */
  readonly onChange?: (approval: ApprovalInfo) => void;
  readonly onTokenNeeded?: () => void;
}

let cards = 0;

/** How often, and after what time, it is looked how a question ended, or whether changed arguments are asked about. */
const MAX_LOOKS = 10;
const LOOK_AFTER_MS = 700;

/**
 * One question to people: everything that they are asked about, who has agreed, and what the reader may do.
 * It is a dialog beside others on the page: it takes no focus, so whoever types goes on typing.
 */
export function createApprovalCard(ports: ApprovalCardPorts, first: ApprovalInfo): ApprovalCard {
  const face = createFace(`approval-card-${++cards}`);
  const form = createApprovalForm((decision) => void decide(decision));
  face.root.append(form.root, face.outcome);
  let approval = first;
  let isSending = false;
  let message = "";
  let seen = "";
  let reads = 0;
  let looks = 0;
  /** Questions that another one has replaced; what is still told of them is no news. */
  const left = new Set<string>();

  function draw(): void {
    const { approvalId, status, approvals, mayDecide, mayNot, lines, said } = approval;
    const isOpen = status === "pending" && Date.parse(approval.expiresAt) > Date.now();
    const isForReader = isOpen && (mayDecide === true || mayNot === "own_request");
    const state = JSON.stringify([approvalId, status, approvals, mayDecide, said, lines.length]);
    form.update(approval, { isNews: state !== seen, isSending });
    seen = state;
    face.draw(approval);
    form.root.hidden = !isForReader;
    const refusal = isOpen ? formatStanding(approval) : "";
    const end = status === "pending" && !isOpen ? "The time is up." : formatEnd(approval);
    setText(face.outcome, [end || refusal, message].filter(Boolean).join(" "));
  }

  async function read(): Promise<void> {
    const mine = ++reads;
    const answer = await ports.api.read(approval.approvalId);
    if (mine !== reads) return;
    if (answer.ok) take(answer.value);
    else fail(answer.failure);
  }

  function take(news: ApprovalInfo): void {
    approval = joinNews(approval, news);
    draw();
    ports.onChange?.(approval);
    follow();
  }

  /** Other arguments are another question. */
  function follow(): void {
    const { supersededBy, mayDecide: _, said: __, ...rest } = approval;
    if (approval.status === "superseded" && supersededBy === undefined) awaitNext();
    if (supersededBy === undefined) return;
    message = "These are the changed arguments.";
    looks = 0;
    left.add(rest.approvalId);
    // Nobody's word for the one counts for the other.
    const unvoted = { votes: [], approvals: 0 };
    approval = { ...rest, ...unvoted, approvalId: supersededBy, status: "pending" };
    void read();
  }

  /** The run has to ask anew first, which takes a moment. */
  function awaitNext(): void {
    looks++;
    if (looks <= MAX_LOOKS) setTimeout(() => void read(), LOOK_AFTER_MS);
  }

  /** By the reader's clock the time is up; how it ended is for the server to say. */
  function askForEnd(): void {
    const isLate = approval.status === "pending" && Date.parse(approval.expiresAt) <= Date.now();
    if (!isLate || looks >= MAX_LOOKS) return;
    looks++;
    void read();
  }

  function fail(failure: ApprovalFailure): void {
    if (failure.needsToken) ports.onTokenNeeded?.();
    message = refusalOf(failure.code) ?? failure.message;
    form.refuse(failure);
    if (failure.approval) take(failure.approval);
    else draw();
  }

  async function decide(decision: Decision): Promise<void> {
    if (isSending) return;
    isSending = true;
    message = "";
    form.refuse(undefined);
    const answer = await ports.api.decide(approval.approvalId, decision);
    isSending = false;
    reads++;
    if (answer.ok) {
      // Whether one may decide again is not known any more.
      const { mayDecide: _, ...rest } = approval;
      approval = rest;
      take(answer.value);
      if (answer.value.mayDecide === undefined) void read();
    } else fail(answer.failure);
    keepFocus();
  }

  /** The buttons go with the decision; whoever pressed one goes on from its outcome. */
  function keepFocus(): void {
    const active = activeElementOf(face.root);
    const isLost = active === null || active === document.body || form.root.contains(active);
    if (form.root.hidden && isLost) face.outcome.focus();
  }

  face.onTick(() => {
    draw();
    askForEnd();
  });
  draw();
  void read();
  return {
    root: face.root,
    update(news) {
      const { approvalId, status, approvals } = approval;
      const isSame = news.approvalId === approvalId;
      if (left.has(news.approvalId)) return;
      if (isSame && news.status === status && news.approvals === approvals) return;
      if (!isSame) message = "";
      approval = joinNews(approval, news);
      draw();
      void read();
    },
  };
}

function activeElementOf(element: HTMLElement): Element | null {
  const root = element.getRootNode();
  return root instanceof Document || root instanceof ShadowRoot ? root.activeElement : null;
}

/** What a card shows whoever reads it. */
function createFace(id: string) {
  const title = el("h3", { id });
  const risk = el("span", { class: "risk" });
  const left = el("p", { class: "left" });
  const demand = el("p", { class: "demand" });
  const votes = el("ul", { class: "votes" });
  const packet = el("div", { class: "packet" });
  const outcome = el("p", { class: "outcome", role: "status", tabindex: "-1" });
  const head = el("div", { class: "head" }, title, risk);
  const root = el("div", { class: "approval", role: "dialog", "aria-labelledby": id });
  root.append(head, packet, el("div", { class: "who" }, demand, votes, left));
  let shown = "";
  let onTick = (): void => undefined;
  let isTicking = false;

  /** Ticks while the card is on the page and time runs. */
  function tick(): void {
    isTicking = root.isConnected && root.dataset["status"] === "pending";
    if (!isTicking) return;
    onTick();
    setTimeout(tick, 1_000);
  }

  return {
    root,
    outcome,
    onTick: (listener: () => void): void => {
      onTick = listener;
    },
    draw(approval: ApprovalInfo): void {
      const { status, riskClass, lines } = approval;
      root.dataset["status"] = status;
      root.dataset["risk"] = riskClass;
      setText(title, approval.title);
      setText(risk, formatRisk(riskClass));
      setText(demand, formatDemand(approval));
      const isOpen = status === "pending";
      setText(left, isOpen ? formatTimeLeft(Date.parse(approval.expiresAt) - Date.now()) : "");
      // What the reader has opened stays open while nothing of it changes.
      const next = JSON.stringify([lines, approval.votes]);
      if (shown !== next) {
        packet.replaceChildren(...drawPacket(lines));
        votes.replaceChildren(...approval.votes.map(drawVote));
      }
      shown = next;
      if (isTicking) return;
      isTicking = true;
      setTimeout(tick, 1_000);
    },
  };
}

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

function drawVote({
  approverId,
  decision,
  reason,
  at,
}: ApprovalInfo["votes"][number]): HTMLElement {
  const verb = decision === "approve" ? "agreed" : "refused";
  const atMs = Date.parse(at);
  const when = Number.isFinite(atMs) ? `, ${TIME.format(atMs)}` : "";
  const why = typeof reason === "string" ? `: ${reason}` : "";
  return el("li", {}, el("bdi", {}, approverId), ` ${verb}${when}`, el("bdi", {}, why));
}
