import type { ToolCardCall } from "./tool-card-call.ts";

export type { ChatEvents } from "./chat-events.ts";
export type { ToolCardCall } from "./tool-card-call.ts";

/**
 * What a card shows: a text, or an element as `[name, attributes, ...children]`. The page draws
 * elements and attributes of a fixed list only; docs/embedding.md names them.
 */
export type CardNode = string | CardElement;
export type CardElement = readonly [
  name: string,
  attributes: CardAttributes,
  ...children: CardNode[],
];
export type CardAttributes = { readonly [name: string]: string | number | boolean };

type Draw = (call: ToolCardCall) => readonly CardNode[] | undefined;

/** How the calls of one tool are shown. What a card leaves out looks as on every other tool. */
export interface ToolCard {
  /** The name at the head of the card. */
  readonly title?: (call: ToolCardCall) => string | undefined;
  /** Stands for the list "Input". */
  readonly input?: Draw;
  /** Stands for the stage and the bar of a running call. */
  readonly progress?: Draw;
  /** Stands above an approval. The approval itself is always the server's. */
  readonly approval?: Draw;
  /** Stands for the list "Result" of a call that succeeded. */
  readonly result?: Draw;
  /** Stands for the list "Details", and for "Found so far" of a running call. */
  readonly details?: Draw;
}

const cards = new Map<string, ToolCard>();

/**
 * Defines how the calls of a tool are shown, in every chat of the page. It holds for the calls that
 * are drawn from then on.
 * Contract: the functions are pure. When one throws, or returns what cannot be drawn, the page
 * reports the error to the window and shows that part as for a tool without a card.
 * Fails: throws when the tool has a card already.
 */
export function defineToolCard(toolId: string, card: ToolCard): void {
  if (cards.has(toolId)) throw new Error(`The tool ${toolId} has a card already.`);
  cards.set(toolId, card);
}

/** Returns the card of a tool, or undefined when it has none. */
export function findToolCard(toolId: string): ToolCard | undefined {
  return cards.get(toolId);
}
