/** A stretch of a text: from `from`, up to and without `to`. */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** One more than the largest UTF-16 code unit. */
const UNITS = 0x1_0000;

/** One text that arrives in pieces. */
export interface TextPieces {
  /** Adds a piece; answers what no later piece can change. */
  add(piece: string): string;
  /** Answers what is still held back. The next piece begins another text. */
  rest(): string;
}

/**
 * Makes a function that starts the replacement of every occurrence of some texts in one text (Aho
 * and Corasick, 1975). Occurrences that overlap become one replacement. What is held back between
 * two pieces is always the beginning of a text that is looked for.
 * Contract: linear in the length of all texts and of all pieces; each piece costs at most the
 * longest text more. Where the text is cut into pieces does not change the result.
 */
export function createReplacer(texts: readonly string[], replacement: string): () => TextPieces {
  const trie = buildTrie(texts);
  return () => replacePieces(trie, replacement);
}

function replacePieces(trie: Trie, replacement: string): TextPieces {
  let node = 0;
  let held = "";
  /** Occurrences that reach into the held text. */
  let found: Stretch[] = [];
  /** Shows a text up to `upTo`, before which no later occurrence begins; holds back the rest. */
  const show = (text: string, upTo: number): string => {
    let shown = "";
    let end = 0;
    const reaching: Stretch[] = [];
    for (const { from, to } of found) {
      if (from < upTo) {
        if (from >= 0) shown += text.slice(end, from) + replacement;
        end = to;
      }
      if (to > upTo) reaching.push({ from: from < upTo ? SHOWN : from - upTo, to: to - upTo });
    }
    found = reaching;
    held = text.slice(upTo);
    return shown + text.slice(end, upTo);
  };
  return {
    add(piece) {
      const text = held + piece;
      for (let at = held.length; at < text.length; at++) {
        node = step(trie, node, text.charCodeAt(at));
        const length = trie.lengths[node] ?? 0;
        if (length > 0) mark(found, at + 1 - length, at + 1);
      }
      return show(text, text.length - (trie.depths[node] ?? 0));
    },
    rest() {
      node = 0;
      return show(held, held.length);
    },
  };
}

/** Where a stretch begins whose replacement is shown, although a later occurrence may extend it. */
const SHOWN = -1;

/** Adds an occurrence to stretches that do not overlap. */
function mark(found: Stretch[], start: number, to: number): void {
  let from = start;
  for (let last = found.at(-1); last && last.to > from; last = found.at(-1)) {
    from = Math.min(from, last.from);
    found.pop();
  }
  found.push({ from, to });
}

/** A node stands for the start of a text; node 0 for the empty one. */
interface Trie {
  /** Child of a node, by node and code unit. */
  readonly children: Map<number, number>;
  /** The node of the longest proper end of this node's text. */
  readonly fallbacks: number[];
  /** Length of the longest text that ends at a node; 0 when none does. */
  readonly lengths: number[];
  /** Length of each node's text. */
  readonly depths: number[];
}

/** Builds the trie level by level, so that the fallbacks of a node exist before the node. */
function buildTrie(texts: readonly string[]): Trie {
  const trie: Trie = { children: new Map(), fallbacks: [0], lengths: [0], depths: [0] };
  let open = texts.map((text) => ({ text, node: 0 }));
  for (let at = 0; open.length > 0; at++) {
    for (const entry of open) {
      entry.node = childOf(trie, entry.node, entry.text.charCodeAt(at));
      if (entry.text.length === at + 1) trie.lengths[entry.node] = at + 1;
    }
    open = open.filter(({ text }) => text.length > at + 1);
  }
  return trie;
}

function childOf(trie: Trie, node: number, unit: number): number {
  const { children, fallbacks, lengths, depths } = trie;
  const known = children.get(node * UNITS + unit);
  if (known !== undefined) return known;
  const fallback = node === 0 ? 0 : step(trie, fallbacks[node] ?? 0, unit);
  lengths.push(lengths[fallback] ?? 0);
  depths.push((depths[node] ?? 0) + 1);
  const child = fallbacks.push(fallback) - 1;
  children.set(node * UNITS + unit, child);
  return child;
}

function step({ children, fallbacks }: Trie, from: number, unit: number): number {
  for (let node = from; ; node = fallbacks[node] ?? 0) {
    const child = children.get(node * UNITS + unit);
    if (child !== undefined) return child;
    if (node === 0) return 0;
  }
}
