import type { ChatToolsPorts, LoadKind } from "./chat-tools.ts";
import { type Exchange, isActive } from "../exchange/exchange.ts";
import type { ExchangeList } from "../exchange/exchange-list.ts";
import type { ReadTurn } from "./read-turn.ts";

/**
 * Puts turns into a list, the oldest first. What the list has already stays as it is. Returns the
 * added exchanges whose runs go on.
 */
export function mergeTurns(
  { readAnswer }: ChatToolsPorts,
  { list, kind }: { readonly list: ExchangeList; readonly kind: LoadKind },
  turns: readonly ReadTurn[],
): readonly Exchange[] {
  const known = new Map(list.nodes.map((node) => [node.runId, node]));
  const page = turns.map((turn) => known.get(turn.runId) ?? toExchange(turn));
  const added = page.filter(({ runId }) => !known.has(runId));
  const others = list.nodes.filter((node) => !page.includes(node));
  const wasAtHead = list.all.at(-1)?.runId === list.headId;
  const nodes = kind === "earlier" ? [...page, ...others] : putAfter(others, page);
  const tip = kind === "newest" || (kind === "news" && wasAtHead) ? page.at(-1) : undefined;
  list.set(nodes.map(placeAmong(nodes)), (tip ?? list.all.at(-1))?.key);
  return added.filter(isActive);

  function toExchange(turn: ReadTurn): Exchange {
    const { runId, parentId, messageId, question, chunks, isOver, isFixed, feedback } = turn;
    return {
      ...list.create(question),
      runId,
      parentId,
      isFixed,
      feedback,
      // The stream of a run that goes on tells its answer from the start.
      ...(isOver && { link: "done" as const, answer: readAnswer(chunks) }),
      ...(messageId !== undefined && { request: { key: messageId } }),
    };
  }
}

/** Puts turns where the server has them: what the page asked meanwhile is newer. */
function putAfter(others: readonly Exchange[], page: readonly Exchange[]): readonly Exchange[] {
  const isNewer = (node: Exchange): boolean => node.runId === undefined || isActive(node);
  return [...others.filter((node) => !isNewer(node)), ...page, ...others.filter(isNewer)];
}

/** Finds the exchange that another one continues, once it is loaded. */
function placeAmong(nodes: readonly Exchange[]): (node: Exchange) => Exchange {
  const keys = new Map(nodes.map(({ runId, key }) => [runId, key]));
  return (node) => {
    const after = node.parentId === undefined ? undefined : keys.get(node.parentId);
    return after === undefined ? node : { ...node, after, parentId: undefined };
  };
}
