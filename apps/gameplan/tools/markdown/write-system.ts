import { SYSTEM_TEXTS } from "../entities/system-texts.ts";
import { cleanText } from "./clean-text.ts";
import { headingOf } from "./field-words.ts";
import { fenceAfter } from "./fence.ts";

/** What a document says of a system. */
export interface WrittenSystem {
  /** Answers a field; empty for none. */
  readonly textOf: (field: SystemField) => string;
  readonly dependsOn: readonly NamedLink[];
}

type SystemField =
  | (typeof SYSTEM_TEXTS)[number]
  | "name"
  | "systemSlug"
  | "mvpCriticality"
  | "status";
type NamedLink = Readonly<Record<"name" | "systemSlug" | "type", string>>;

/**
 * Writes a system as Markdown that `parseSystem` reads as the same system, but for control
 * characters and for blank space around a text. What depends on the system belongs to others.
 * Contract: pure; linear.
 */
export function writeSystem({ textOf, dependsOn }: WrittenSystem): string {
  const name = toLine(textOf("name"));
  const facts = [
    `- Slug: ${textOf("systemSlug")}`,
    `- Criticality: ${textOf("mvpCriticality")}`,
    `- Status: ${textOf("status")}`,
  ];
  const texts = SYSTEM_TEXTS.flatMap((field) => {
    const text = writeText(cleanText(textOf(field)));
    return text === "" ? [] : [`## ${headingOf(field)}`, text];
  });
  const links = dependsOn.map(
    (link) => `- ${link.type}: ${toLine(link.name)} (${link.systemSlug})`,
  );
  return [
    // Marks at the end of a heading close it.
    `# ${name}${name.endsWith("#") ? " #" : ""}`,
    facts.join("\n"),
    ...texts,
    ...(links.length > 0 ? ["## Depends on", links.join("\n")] : []),
  ]
    .join("\n\n")
    .concat("\n");
}

function toLine(name: string): string {
  return cleanText(name).replaceAll(/\s+/g, " ").trim();
}

/** What would begin a heading or a code block, or be taken for the escape of one. */
const ESCAPED = /^(?= {0,3}(?:#{1,6}[ \t]|`{3}|~{3})|\\[ #`~\\])/;

/**
 * Writes a text so that its headings stay a part of it. Its code blocks stay, unless one has no
 * end.
 */
function writeText(text: string): string {
  const lines = text.trim().split("\n");
  const isOpen = lines.reduce<string | undefined>(fenceAfter, undefined) !== undefined;
  let fence: string | undefined;
  return lines
    .map((line) => {
      const before = fence;
      fence = isOpen ? undefined : fenceAfter(before, line);
      return before === undefined && fence === undefined ? line.replace(ESCAPED, "\\") : line;
    })
    .join("\n");
}
