import type { CardNode, ToolCard, ToolCardCall } from "./define-tool-card.ts";
import { drawNodes } from "./draw-nodes.ts";

type DrawnPart = "input" | "progress" | "approval" | "result" | "details";

/**
 * Draws one part of a card. Undefined when the card leaves it out or fails; the page then shows its
 * own. Contract: never throws.
 */
export function drawPart(
  card: ToolCard | undefined,
  part: DrawnPart,
  call: ToolCardCall,
): readonly Node[] | undefined {
  return attempt(() => {
    const nodes: readonly CardNode[] | undefined = card?.[part]?.(call);
    return nodes && drawNodes(nodes);
  });
}

/** Reads the title of a card. Contract: never throws. */
export function readTitle(card: ToolCard | undefined, call: ToolCardCall): string | undefined {
  return attempt(() => {
    const title = card?.title?.(call);
    return typeof title === "string" && title !== "" ? title : undefined;
  });
}

function attempt<T>(draw: () => T | undefined): T | undefined {
  try {
    return draw();
  } catch (error) {
    reportError(error);
    return undefined;
  }
}
