/** A stretch of text in one style. */
export interface Span {
  readonly kind: "text" | "code" | "bold";
  readonly text: string;
}

/** Each alternative ends at the next mark of the same kind, so matching takes linear time. */
const MARKS = /`([^`\n]+)`|\*\*([^\s*](?:[^*\n]*[^\s*])?)\*\*/g;

/** Splits text at inline code and bold marks. Everything else stays text, also links and HTML. */
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
