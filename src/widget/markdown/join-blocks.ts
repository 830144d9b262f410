/**
 * Moves the parts of a block into the block of the same kind before it, so that a long list, table
 * or code block is one. False: there is none.
 */
export function joinBlocks(block: Element): boolean {
  const before = block.previousElementSibling;
  if (before?.localName !== block.localName) return false;
  partsOf(before).append(...partsOf(block).childNodes);
  block.remove();
  return true;
}

/** Where the parts stand: lines of code, rows, or the block itself. */
function partsOf(block: Element): Element {
  const inner = block.querySelector(":scope > pre > code, :scope > table > tbody");
  return inner ?? block;
}
