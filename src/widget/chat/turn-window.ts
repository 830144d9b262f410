import { el } from "../dom.ts";

/** A turn in the log. */
export interface Turn {
  readonly root: HTMLElement;
  /** Returns whether the turn must stand although it is far: its answer goes on. */
  readonly isHeld: () => boolean;
  /** What stands in the log while the turn is folded. */
  fold?: HTMLElement | undefined;
}

/** Turns that stand on each side of those that the reader sees, so that they come before them. */
const AROUND = 25;

/** Returns what stands in the log for a turn: the turn, or its fold. */
export const standIn = ({ root, fold }: Turn): HTMLElement => fold ?? root;

/**
 * Takes turns that are far from what the reader sees out of the document, and puts them back before
 * they are seen. An empty element of the same height stands for each. The page keeps the turn
 * itself, so it comes back as it was. Contract: what the reader sees does not move.
 */
export function createTurnWindow(scroller: HTMLElement) {
  /** Turns that the reader scrolled inside; leaving the document would undo that. */
  const scrolled = new WeakSet<Element>();
  let turns: readonly Turn[] = [];
  const update = () => foldFar(scroller, turns, (turn) => scrolled.has(turn.root));
  scroller.addEventListener(
    "scroll",
    ({ target }) => {
      if (target === scroller) update();
      else if (target instanceof Element) scrolled.add(target.closest(".exchange") ?? target);
    },
    { capture: true, passive: true },
  );
  return {
    /** Takes the turns of the log. */
    show(next: readonly Turn[]): void {
      turns = next;
      update();
    },
    /** Looks again at what the reader sees, before the browser tells of a scroll. */
    update,
  };
}

function foldFar(
  scroller: HTMLElement,
  turns: readonly Turn[],
  isScrolled: (turn: Turn) => boolean,
): void {
  const { top, bottom } = scroller.getBoundingClientRect();
  const first = countUntil(turns, (turn) => boxOf(turn).bottom > top);
  const end = countUntil(turns, (turn) => boxOf(turn).top >= bottom);
  const isNear = (at: number) => at >= first - AROUND && at < end + AROUND;
  const back = turns.filter(({ fold }, at) => fold && isNear(at));
  const far = turns.filter(({ fold }, at) => !fold && !isNear(at));
  const isInUse = far.length > 0 ? findUse(scroller) : () => true;
  const leaving = far.filter((turn) => !turn.isHeld() && !isScrolled(turn) && !isInUse(turn.root));
  // All heights are read before the first change, so the page is laid out once.
  const heights = leaving.map((turn) => boxOf(turn).height);
  const seen = turns[first];
  const before = seen && boxOf(seen).top;
  leaving.forEach((turn, at) => {
    turn.fold = el("div", { class: "fold" });
    turn.fold.style.height = `${heights[at]}px`;
    turn.root.replaceWith(turn.fold);
  });
  for (const turn of back) {
    turn.fold?.replaceWith(turn.root);
    turn.fold = undefined;
  }
  // A turn comes back with another height where the window got another width meanwhile.
  const moved = seen && before !== undefined && back.length > 0 ? boxOf(seen).top - before : 0;
  if (moved !== 0) scroller.scrollTop += moved;
}

const boxOf = (turn: Turn): DOMRect => standIn(turn).getBoundingClientRect();

/** Counts the turns before the first one that passes. All after that one pass too. */
function countUntil(turns: readonly Turn[], passes: (turn: Turn) => boolean): number {
  let [from, to] = [0, turns.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const turn = turns[middle];
    if (turn && passes(turn)) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** Finds what the reader does: a turn with the focus, with an open form, or with selected text. */
function findUse(scroller: HTMLElement): (root: HTMLElement) => boolean {
  const tree = scroller.getRootNode() as ShadowRoot;
  const selection = document.getSelection();
  const [chosen] = selection?.getComposedRanges?.({ shadowRoots: [tree] }) ?? [];
  const range = new Range();
  if (chosen && !chosen.collapsed) {
    range.setStart(chosen.startContainer, chosen.startOffset);
    range.setEnd(chosen.endContainer, chosen.endOffset);
  }
  // A selection that goes beyond the chat holds all that stands.
  const isWide = chosen !== undefined && !chosen.collapsed && range.collapsed;
  return (root) =>
    isWide ||
    (!range.collapsed && range.intersectsNode(root)) ||
    root.contains(tree.activeElement) ||
    [...root.querySelectorAll("form")].some((form) => form.checkVisibility());
}
