import { say, type Text } from "../../texts/say.ts";
import { friendlyName } from "../answer/fields.ts";

/** A source of text of others, as the server names it; see docs/untrusted-output.md. */
export interface NamedSource {
  readonly kind: string;
  readonly tool?: string;
}

const WORDS: ReadonlyMap<string, Text> = new Map<string, Text>([
  ["context", "context of the page"],
  ["file", "a file"],
  ["history", "history that a client sent"],
  ["more", "earlier sources"],
]);

/** Says sources for a reader, who knows tools by their names and not by their ids. */
export function saySources(sources: readonly NamedSource[]): string {
  const names = sources.flatMap(({ tool }) =>
    tool === undefined ? [] : [`"${friendlyName(tool)}"`],
  );
  const others = sources.flatMap(({ kind, tool }) =>
    tool === undefined ? [say(WORDS.get(kind) ?? "other text")] : [],
  );
  const results = names.length > 0 ? [say("results of {names}", { names: names.join(", ") })] : [];
  return [...others, ...results].join(", ");
}
