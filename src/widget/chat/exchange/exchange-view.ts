import type { ApprovalCardPorts } from "../../approval/card.ts";
import { createEnding } from "./exchange-ending.ts";
import { createBubble, createPartView, type PartView } from "./part-view.ts";
import { createStatus } from "./exchange-status.ts";
import type { CallReader } from "../tool-card/call-reader.ts";
import { el } from "../../dom.ts";
import { type Exchange, isActive } from "./exchange.ts";

export interface ExchangeView {
  readonly root: HTMLElement;
  update(exchange: Exchange): void;
}

export interface ExchangePorts {
  readonly approvals: ApprovalCardPorts;
  readonly reader: CallReader;
  readonly onRetry: () => void;
}

/** Shows one question with its answer. */
export function createExchangeView(question: string, ports: ExchangePorts): ExchangeView {
  const parts = el("div", { class: "parts" });
  const status = createStatus();
  const ending = createEnding(ports.onRetry);
  const answer = el("article", { class: "answer", "aria-label": "Assistant" });
  answer.append(parts, status.root, ending.root);
  const views = new Map<number, PartView>();
  const bubble = createBubble(question);
  bubble.hidden = question === "";
  let shown: Exchange | undefined;

  function drawParts(exchange: Exchange): void {
    const { runId } = exchange;
    const readImage = async (toolCallId: string, number: number) =>
      runId === undefined ? undefined : ports.reader.image({ runId, toolCallId }, number);
    const readResult = async (toolCallId: string) =>
      runId === undefined ? undefined : ports.reader.result({ runId, toolCallId });
    const isOver = !isActive(exchange) && exchange.answer.done !== undefined;
    for (const part of exchange.answer.parts) {
      const view =
        views.get(part.index) ??
        createPartView(part, { approvals: ports.approvals, readImage, readResult });
      if (!views.has(part.index) && view.root) parts.append(view.root);
      views.set(part.index, view);
      view.update(part, isOver);
    }
  }

  return {
    root: el("section", { class: "exchange" }, bubble, answer),
    update(exchange) {
      if (exchange === shown) return;
      drawParts(exchange);
      status.update(exchange);
      ending.update(exchange);
      shown = exchange;
    },
  };
}
