import type { DependencyType } from "../entities/dependency.ts";

/** The mark of a list, and marks of emphasis, code and links. */
const MARKS = /^\s*[-*+]\s|\*\*|[`[\]]/g;
const TYPE = /^(requires|enhances|optional)[: ]/i;

/**
 * Reads `- requires Movement`, `- requires: Movement` or `- Movement`.
 * Contract: pure; linear. `name` may have a short name behind it, in brackets.
 */
export function readLinkLine(text: string): {
  readonly name: string;
  readonly type: DependencyType;
} {
  const line = text.replaceAll(MARKS, "").trim();
  const [before = "", type = "requires"] = TYPE.exec(line) ?? [];
  // The pattern knows the types.
  return { name: line.slice(before.length).trim(), type: type.toLowerCase() as DependencyType };
}
