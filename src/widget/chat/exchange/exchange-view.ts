import { say } from "../../texts/say.ts";
import { createEnding } from "./exchange-ending.ts";
import type { Part } from "../answer/answer.ts";
import { createSagaSteps, sagaIdOf, type SagaSteps } from "./saga-steps.ts";
import { createBubble, createPartView, type PartView } from "./part-view.ts";
import { createStatus } from "./exchange-status.ts";
import type { CallReader } from "../tool-card/call-reader.ts";
import type { CallPorts } from "../tool-card/tool-card.ts";
import { el } from "../../dom.ts";
import { type Exchange, isActive } from "./exchange.ts";

export interface ExchangeView {
  readonly root: HTMLElement;
  update(exchange: Exchange): void;
}

export interface ExchangePorts extends Pick<CallPorts, "createCard"> {
  readonly reader: CallReader;
  readonly onRetry: () => void;
}

/** Shows one question with its answer. */
export function createExchangeView(
  { question, files = [] }: Exchange,
  ports: ExchangePorts,
): ExchangeView {
  const parts = el("div", { class: "parts" });
  const status = createStatus();
  const ending = createEnding(ports.onRetry);
  const answer = el("article", { class: "answer", part: "answer", "aria-label": say("Assistant") });
  answer.append(parts, status.root, ending.root);
  const views = new Map<number, PartView>();
  const sagas = new Map<string, SagaSteps>();
  const bubble = createBubble(question, files);
  bubble.hidden = question === "" && files.length === 0;
  let shown: Exchange | undefined;
  let shownParts: readonly Part[] = [];

  /** A step stands on the card of its saga, and every other part below the one before it. */
  function place(part: Part, root: HTMLElement): void {
    const sagaId = part.kind === "tool" ? sagaIdOf(part.toolCallId) : undefined;
    const saga = sagaId === undefined ? undefined : openSaga(sagaId);
    if (saga) saga.add(root);
    else parts.append(root);
  }

  function openSaga(sagaId: string): SagaSteps | undefined {
    const known = sagas.get(sagaId);
    const owner = shownParts.find((part) => part.kind === "tool" && part.toolCallId === sagaId);
    const card = owner && views.get(owner.index)?.root;
    if (known || !card) return known;
    const steps = createSagaSteps();
    card.append(steps.root);
    sagas.set(sagaId, steps);
    return steps;
  }

  function drawParts(exchange: Exchange): void {
    shownParts = exchange.answer.parts;
    const { runId } = exchange;
    const readImage = async (toolCallId: string, number: number) =>
      runId === undefined ? undefined : ports.reader.image({ runId, toolCallId }, number);
    const readResult = async (toolCallId: string) =>
      runId === undefined ? undefined : ports.reader.result({ runId, toolCallId });
    const isOver = !isActive(exchange) && exchange.answer.done !== undefined;
    for (const part of exchange.answer.parts) {
      const view =
        views.get(part.index) ??
        createPartView(part, { createCard: ports.createCard, readImage, readResult });
      if (!views.has(part.index) && view.root) place(part, view.root);
      views.set(part.index, view);
      view.update(part, isOver);
      if (part.kind === "tool") sagas.get(sagaIdOf(part.toolCallId) ?? "")?.update(part);
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
