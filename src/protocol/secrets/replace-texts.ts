/** A stretch of a text: from `from`, up to and without `to`. */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** One more than the largest UTF-16 code unit. */
const UNITS = 0x1_0000;

/**
 * Makes a function that replaces every occurrence of some texts (Aho and Corasick, 1975).
 * Occurrences that overlap become one replacement.
 * Contract: linear in the length of all texts, and each call in the length of its text.
 */
export function createReplacer(
  texts: readonly string[],
  replacement: string,
): (text: string) => string {
  const trie = buildTrie(texts);
  return (text) => {
    const parts: string[] = [];
    let end = 0;
    for (const { from, to } of findStretches(trie, text)) {
      parts.push(text.slice(end, from), replacement);
      end = to;
    }
    return end === 0 ? text : parts.join("") + text.slice(end);
  };
}

/** A node stands for the start of a text; node 0 for the empty one. */
interface Trie {
  /** Child of a node, by node and code unit. */
  readonly children: Map<number, number>;
  /** The node of the longest proper end of this node's text. */
  readonly fallbacks: number[];
  /** Length of the longest text that ends at a node; 0 when none does. */
  readonly lengths: number[];
}

/** Builds the trie level by level, so that the fallbacks of a node exist before the node. */
function buildTrie(texts: readonly string[]): Trie {
  const trie: Trie = { children: new Map(), fallbacks: [0], lengths: [0] };
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
  const { children, fallbacks, lengths } = trie;
  const known = children.get(node * UNITS + unit);
  if (known !== undefined) return known;
  const fallback = node === 0 ? 0 : step(trie, fallbacks[node] ?? 0, unit);
  lengths.push(lengths[fallback] ?? 0);
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

/** Finds all occurrences, in order, as stretches that do not overlap. */
function findStretches(trie: Trie, text: string): readonly Stretch[] {
  const found: Stretch[] = [];
  let node = 0;
  for (let at = 0; at < text.length; at++) {
    node = step(trie, node, text.charCodeAt(at));
    const length = trie.lengths[node] ?? 0;
    if (length === 0) continue;
    let from = at + 1 - length;
    for (let last = found.at(-1); last && last.to > from; last = found.at(-1)) {
      from = Math.min(from, last.from);
      found.pop();
    }
    found.push({ from, to: at + 1 });
  }
  return found;
}
