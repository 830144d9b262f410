import type { SynthesisOutput } from "../entities/brainstorm.ts";

const MOST_OUTPUTS = 50;
const OUTPUT_CHARS = 500;

/**
 * Reads outputs from notes when nobody wrote any: lines such as `Decision: ...` and `Idea: ...`,
 * points of lists as ideas, and lines that end with a question mark as questions.
 * Contract: pure; at most 50, in the order of the notes.
 */
export function synthesize(content: string): SynthesisOutput[] {
  const outputs: SynthesisOutput[] = [];
  for (const line of content.split("\n")) {
    const output = readLine(withoutMarks(line.trim()));
    if (output) outputs.push(output);
    if (outputs.length === MOST_OUTPUTS) break;
  }
  return outputs;
}

const LABELLED = /^(?:[-*+] )?(summary|theme|idea|decision|question)s?: *(\S.*)$/i;
const POINT = /^(?:[-*+]|\d{1,3}[.)]) +(\S.*)$/;

/** An author before a message of a thread. A label in bold is none. */
const AUTHOR = /^\*\*(?!(?:summary|theme|idea|decision|question)s?:)(?:[^*\s:]+:){1,2}\*\* */i;

/** Takes the marks of Markdown off a line of notes, and the author before a message of a thread. */
function withoutMarks(line: string): string {
  return line
    .replace(/^#{1,6} +/, "")
    .replace(AUTHOR, "")
    .replaceAll("**", "");
}

function readLine(line: string): SynthesisOutput | undefined {
  const [, label, labelled] = LABELLED.exec(line) ?? [];
  if (label !== undefined && labelled !== undefined) {
    return output(label.toLowerCase() as SynthesisOutput["kind"], labelled);
  }
  const point = POINT.exec(line)?.[1];
  if (line.endsWith("?")) return output("question", point ?? line);
  return point === undefined ? undefined : output("idea", point);
}

function output(kind: SynthesisOutput["kind"], text: string): SynthesisOutput {
  return { kind, text: text.slice(0, OUTPUT_CHARS) };
}
