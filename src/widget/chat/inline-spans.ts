/** A stretch of text in one style. */
export interface Span {
  readonly kind: "text" | "code" | "bold";
  readonly text: string;
}

/** Each alternative ends at the next mark of its own kind, so a text is read once. */
const MARKS = /`([^`\n]+)`|\*\*([^\s*](?:[^*\n]*[^\s*])?)\*\*/g;

/** Splits text at inline code and bold marks. Anything else, links and HTML included, stays text. */
export function parseInline(text: string): readonly Span[] {
  const spans: Span[] = [];
  let end = 0;
  for (const match of text.matchAll(MARKS)) {
    if (match.index > end) spans.push({ kind: "text", text: text.slice(end, match.index) });
    const [whole, code, bold] = match;
    spans.push(
      code === undefined ? { kind: "bold", text: bold ?? "" } : { kind: "code", text: code },
    );
    end = match.index + whole.length;
  }
  if (end < text.length) spans.push({ kind: "text", text: text.slice(end) });
  return spans;
}
