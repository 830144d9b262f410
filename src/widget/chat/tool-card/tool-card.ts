import { say } from "../../texts/say.ts";
import type { ApprovalCard } from "../../approval/card.ts";
import type { ApprovalInfo } from "../../approval/info.ts";
import { findToolCard, type ToolCard } from "../../cards/define-tool-card.ts";
import { drawPart, readTitle } from "../../cards/draw-part.ts";
import type { JsonObject } from "../../../protocol/json/value.ts";
import type { ToolPart } from "../answer/answer.ts";
import { el, icon, setText } from "../../dom.ts";
import { friendlyName } from "../answer/fields.ts";
import { describeCall, drawBody } from "./tool-card-body.ts";
import { drawToolContent } from "./tool-content-view.ts";
import { createWholeResult } from "./whole-result.ts";
import { createProgress } from "./tool-progress.ts";
import { CARD_STATES, cardStateOf, describeUnknownOutcome } from "./tool-state.ts";

/** What the card of a call uses. */
export interface CallPorts {
  /** Creates the card of an approval; undefined when its part of the page cannot be loaded. */
  readonly createCard: (approval: ApprovalInfo) => Promise<ApprovalCard | undefined>;
  /** Reads an image of a call as a data URL. */
  readonly readImage: (toolCallId: string, number: number) => Promise<string | undefined>;
  /** Reads the whole of a result that was cut. */
  readonly readResult: (toolCallId: string) => Promise<JsonObject | undefined>;
}

/** What the body of a card is drawn from. */
const BODY = ["args", "outcome", "details", "state"] as const;

/** Shows one tool call: its tool, input, state, approval and result. */
export class ToolCallView {
  readonly root = el("details", { class: "tool", part: "tool", open: "" });
  readonly #createCard: CallPorts["createCard"];
  readonly #card: ToolCard | undefined;
  readonly #title: HTMLElement;
  readonly #badge = el("span", { class: "badge" });
  readonly #mark = el("span", { class: "mark" });
  readonly #progress: ReturnType<typeof createProgress>;
  readonly #ownProgress = el("div", { class: "own-progress", hidden: "" });
  readonly #unknownOutcome = el("p", { class: "unknown-outcome", hidden: "" });
  readonly #approvalLead = el("div", { class: "approval-lead", hidden: "" });
  readonly #approval = el("div", { class: "tool-approval", hidden: "" });
  readonly #body = el("div", { class: "body" });
  readonly #content = el("section", { class: "content", "aria-label": say("Text and images") });
  readonly #readImage: CallPorts["readImage"];
  readonly #readResult: CallPorts["readResult"];
  #approvalCard: Promise<ApprovalCard | undefined> | undefined;
  #shown: { readonly part: ToolPart; readonly isOver: boolean } | undefined;

  constructor(
    { toolName, toolCallId }: ToolPart,
    { createCard, readImage, readResult }: CallPorts,
  ) {
    this.#createCard = createCard;
    this.#readImage = readImage;
    this.#readResult = readResult;
    this.#card = findToolCard(toolName);
    const name = friendlyName(toolName);
    this.#title = el("span", { class: "name", title: toolName }, name);
    this.#progress = createProgress(name);
    this.root.append(
      el("summary", {}, this.#mark, this.#title, this.#badge),
      this.#progress.root,
      this.#ownProgress,
      this.#unknownOutcome,
      this.#approvalLead,
      this.#approval,
      this.#body,
      this.#content,
    );
    // The tools of the chat add to a card how the call can be undone.
    Object.assign(this.root.dataset, { call: toolCallId, name });
  }

  /** Draws a call. `isOver` tells that the run ended, so the call gets no more result. */
  update(part: ToolPart, isOver: boolean): void {
    const shown = this.#shown;
    if (shown?.part === part && shown.isOver === isOver) return;
    this.#shown = { part, isOver };
    const state = cardStateOf(part, isOver);
    this.root.dataset["state"] = state;
    setText(this.#badge, say(CARD_STATES[state].label));
    this.#mark.replaceChildren(icon(CARD_STATES[state].icon));
    const title = readTitle(this.#card, describeCall(part)) ?? part.title;
    if (title !== undefined) setText(this.#title, title);
    this.#drawProgress(part, state === "running");
    const explanation = describeUnknownOutcome(part, isOver);
    setText(this.#unknownOutcome, explanation);
    this.#unknownOutcome.hidden = explanation === "";
    this.#drawApproval(part, shown?.part);
    this.#approval.hidden = !part.approval || state === "done" || state === "stopped";
    this.#approvalLead.hidden = this.#approval.hidden || this.#approvalLead.childNodes.length === 0;
    const isBodyOld = BODY.some((name) => shown?.part[name] !== part[name]);
    if (isBodyOld) this.#drawBody(part);
    this.#body.hidden = this.#body.childElementCount === 0;
    if (shown?.part.content !== part.content || !shown) this.#drawContent(part);
  }

  #drawBody(part: ToolPart): void {
    const { outcome, toolCallId } = part;
    const whole = outcome?.isCut ? [createWholeResult(() => this.#readResult(toolCallId))] : [];
    this.#body.replaceChildren(...drawBody(part, this.#card), ...whole);
  }

  #drawContent({ toolCallId, toolName, content = [] }: ToolPart): void {
    const read = (number: number) => this.#readImage(toolCallId, number);
    this.#content.replaceChildren(...drawToolContent(content, friendlyName(toolName), read));
    this.#content.hidden = content.length === 0;
  }

  #drawProgress(part: ToolPart, isRunning: boolean): void {
    const hasNews = isRunning && part.progress !== undefined;
    const drawn = hasNews ? drawPart(this.#card, "progress", describeCall(part)) : undefined;
    this.#ownProgress.replaceChildren(...(drawn ?? []));
    this.#ownProgress.hidden = drawn === undefined;
    this.#progress.update(hasNews && !drawn ? part.progress : undefined);
  }

  async #showApproval(
    loading: Promise<ApprovalCard | undefined>,
    approval: ApprovalInfo,
  ): Promise<void> {
    const card = await loading;
    if (!card) return;
    card.update(approval);
    if (!card.root.isConnected) this.#approval.replaceChildren(card.root);
  }

  #drawApproval(part: ToolPart, before: ToolPart | undefined): void {
    const { approval } = part;
    if (!approval) return;
    this.#approvalCard ??= this.#createCard(approval);
    void this.#showApproval(this.#approvalCard, approval);
    if (before?.approval === approval) return;
    const drawn = drawPart(this.#card, "approval", describeCall(part));
    this.#approvalLead.replaceChildren(...(drawn ?? []));
  }
}
