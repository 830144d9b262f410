const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)/s;

/**
 * Tells which code block is open after a line: the mark that opened it; undefined for none. A line
 * opens and closes a block exactly where Markdown says so (CommonMark 0.31, "Fenced code blocks",
 * read 2026-11-22). Threat: a line that only one of both takes for a mark hides the text after it.
 */
export function fenceAfter(open: string | undefined, line: string): string | undefined {
  const [, mark, rest = ""] = FENCE.exec(line) ?? [];
  if (mark === undefined) return open;
  if (open !== undefined) return mark.startsWith(open) && rest.trim() === "" ? undefined : open;
  return mark.startsWith("`") && rest.includes("`") ? undefined : mark;
}
