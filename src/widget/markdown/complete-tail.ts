/**
 * Completes the end of a text that still grows, so that no half mark is shown: what may become a
 * mark is held back, and an open emphasis or table is closed. `**bo` reads as `**bo**`.
 * Contract: pure; what the reader sees only grows while the text grows, for marks as people and
 * models use them. A mark that never closes appears once its paragraph is whole.
 */
export function completeTail(text: string): string {
  const lastLine = text.slice(text.lastIndexOf("\n") + 1);
  const isFence = isInFence(text);
  if (isFence) return FENCE_START.test(lastLine) ? dropEnd(text, lastLine.length) : text;
  const shown = ONLY_MARKS.test(lastLine) ? dropEnd(text, lastLine.length) : text;
  const start = startOfLastPart(shown);
  const completed = shown.slice(0, start) + completeInline(shown.slice(start));
  return completeTable(completed, lastLine === "" || shown !== text);
}

/** A line that is no more than marks, or a number, can become a list, heading, rule or fence. */
const ONLY_MARKS = /^[\s>]*(?:[-+*]|\d{1,9}[.)]?|#{1,6}|[=~`_*-]+|\|)?[ \t]*$/;
const FENCE = /^[\s>]*(?:(?:[-+*]|\d{1,9}[.)])\s+)*(`{3,}|~{3,})/;
const FENCE_START = /^[\s>]*[`~]+$/;

function dropEnd(text: string, length: number): string {
  return text.slice(0, text.length - length);
}

function isInFence(text: string): boolean {
  let open = "";
  for (const line of text.split("\n")) {
    const mark = FENCE.exec(line)?.[1] ?? "";
    if (open === "") open = mark;
    else if (mark.startsWith(open) && line.trim().replace(/^[>\s]*/, "") === mark) open = "";
  }
  return open !== "";
}

const PART_START = /^[\s>]*(?:[-+*]\s|\d{1,9}[.)]\s|#{1,6}\s|\||$)/;

/** Returns where the last paragraph, item, heading or row begins. */
function startOfLastPart(text: string): number {
  let start = text.lastIndexOf("\n") + 1;
  while (start > 0 && !PART_START.test(text.slice(start, text.indexOf("\n", start)))) {
    const before = text.lastIndexOf("\n", start - 2) + 1;
    if (/^[\s>]*$/.test(text.slice(before, start))) break;
    start = before;
  }
  return start;
}

/** A table is recognised by its second line, so the first line gets one. */
function completeTable(text: string, isLineWhole: boolean): string {
  const lines = text.replace(/\n$/, "").split("\n");
  const rows = lines.slice(lines.findLastIndex((line) => !/^\s*\|/.test(line)) + 1);
  const [header, rule = ""] = rows;
  if (header === undefined || rows.length > 2) return text;
  if (rows.length === 2 && (isLineWhole || !/^\s*\|[\s:|-]*$/.test(rule))) return text;
  const cells = header.replace(/\|\s*$/, "").split(/(?<!\\)\|/).length - 1;
  const before = lines.slice(0, lines.length - rows.length);
  const closed = /\|\s*$/.test(header) ? header : `${header} |`;
  return [...before, closed, `|${" --- |".repeat(cells)}`].join("\n");
}

/** Longest text of a link, and longest address, that are held back. Unit: characters. */
const MAX_LABEL = 200;
const MAX_ADDRESS = 2048;

interface OpenMark {
  readonly mark: string;
  readonly at: number;
}

/** Closes open emphasis and code of one part, and holds back what may become a link. */
function completeInline(part: string): string {
  const open: OpenMark[] = [];
  let at = 0;
  let end = part.length;
  while (at < end) {
    const step = readStep(part, at);
    if (step.kind === "hold") {
      end = at;
      break;
    }
    if (step.kind === "code") {
      open.push({ mark: step.mark, at });
      break;
    }
    if (step.kind === "emphasis") toggle(open, part, { mark: step.mark, at });
    at = step.next;
  }
  return closeMarks(part.slice(0, end), open);
}

function closeMarks(text: string, open: readonly OpenMark[]): string {
  if (open.length === 0) return text;
  let shown = text.trimEnd();
  const left = [...open];
  while (left.length > 0) {
    const last = left.at(-1);
    // A mark with nothing behind it would show itself.
    if (!last || last.at + last.mark.length < shown.length) break;
    shown = shown.slice(0, last.at).trimEnd();
    left.pop();
  }
  if (left.length === 0) return shown;
  return (
    shown +
    left
      .map(({ mark }) => mark)
      .toReversed()
      .join("")
  );
}

type Step =
  | { readonly kind: "hold" }
  | { readonly kind: "code"; readonly mark: string; readonly next: number }
  | { readonly kind: "emphasis"; readonly mark: string; readonly next: number }
  | { readonly kind: "text"; readonly next: number };

const HOLD: Step = { kind: "hold" };

function readStep(part: string, at: number): Step {
  const isLast = at === part.length - 1;
  switch (part.charAt(at)) {
    case "\\":
      return isLast ? HOLD : { kind: "text", next: at + 2 };
    case "`":
      return readCode(part, at);
    case "*":
    case "_":
    case "~":
      return readEmphasis(part, at);
    case "!":
      if (part[at + 1] === "[") return readLink(part, at, at + 1);
      return isLast ? HOLD : { kind: "text", next: at + 1 };
    case "[":
      return readLink(part, at, at);
    case "<":
      return holdIf(/^<(?:[a-z][a-z0-9+.-]{0,31}(?::[^\s<>]*)?)?$/i, part, at);
    case "&":
      return holdIf(/^&#?[a-z0-9]{0,31}$/i, part, at);
    default:
      return { kind: "text", next: at + 1 };
  }
}

/** Looks no further than `MAX_ADDRESS` characters from the end, so the time stays linear. */
function holdIf(pattern: RegExp, part: string, at: number): Step {
  const isNear = part.length - at <= MAX_ADDRESS;
  return isNear && pattern.test(part.slice(at)) ? HOLD : { kind: "text", next: at + 1 };
}

function runAt(part: string, at: number): string {
  let end = at + 1;
  while (part[end] === part[at]) end += 1;
  return part.slice(at, end);
}

function readCode(part: string, at: number): Step {
  const mark = runAt(part, at);
  const from = at + mark.length;
  if (from === part.length) return HOLD;
  for (let close = part.indexOf("`", from); close !== -1; close = part.indexOf("`", close)) {
    const run = runAt(part, close);
    close += run.length;
    if (run === mark) return { kind: "text", next: close };
  }
  return { kind: "code", mark, next: from };
}

function readEmphasis(part: string, at: number): Step {
  const mark = runAt(part, at);
  const next = at + mark.length;
  if (next === part.length) return HOLD;
  if (mark.length > 3 || mark === "~") return { kind: "text", next };
  return { kind: "emphasis", mark, next };
}

/** Opens or closes an emphasis, by the rules of CommonMark for what stands around its mark. */
function toggle(open: OpenMark[], part: string, { mark, at }: OpenMark): void {
  const before = part[at - 1] ?? " ";
  const after = part[at + mark.length] ?? " ";
  const isWord = (char: string): boolean => /[\p{L}\p{N}]/u.test(char);
  const canClose = /\S/.test(before);
  const last = open.at(-1);
  if (canClose && last?.mark === mark) open.pop();
  else if (canClose && last && mark.startsWith(last.mark)) closeSeveral(open, mark);
  else if (/\S/.test(after) && !isWord(before)) open.push({ mark, at });
}

function closeSeveral(open: OpenMark[], mark: string): void {
  let left = mark.length;
  while (left > 0 && open.at(-1)?.mark[0] === mark[0]) left -= open.pop()?.mark.length ?? left;
}

/** Reads over a whole link, image or bracket, and holds back one that is not whole yet. */
function readLink(part: string, at: number, bracket: number): Step {
  const close = findClose(part, { at: bracket, pair: "[]", limit: MAX_LABEL });
  if (close === -1) return holdShort(part, at, MAX_LABEL);
  if (close === part.length - 1) return HOLD;
  const opener = part[close + 1];
  if (opener !== "(" && opener !== "[") return { kind: "text", next: bracket + 1 };
  const pair = opener === "(" ? "()" : "[]";
  const end = findClose(part, { at: close + 1, pair, limit: MAX_ADDRESS });
  return end === -1 ? holdShort(part, at, MAX_ADDRESS) : { kind: "text", next: end + 1 };
}

function holdShort(part: string, at: number, limit: number): Step {
  return part.length - at <= limit ? HOLD : { kind: "text", next: at + 1 };
}

interface Bracket {
  readonly at: number;
  readonly pair: "[]" | "()";
  /** How far to look. Unit: characters. */
  readonly limit: number;
}

/** Finds the bracket that closes the one at `at`. */
function findClose(part: string, { at, pair, limit }: Bracket): number {
  let depth = 0;
  const end = Math.min(part.length, at + limit);
  for (let index = at; index < end; index += 1) {
    if (part[index] === "\\") index += 1;
    else if (part[index] === pair[0]) depth += 1;
    else if (part[index] === pair[1] && (depth -= 1) === 0) return index;
  }
  return -1;
}
