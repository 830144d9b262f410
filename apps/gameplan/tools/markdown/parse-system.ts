import { cutText, quote, toSlug } from "../cut-text.ts";
import {
  CRITICALITIES,
  type NewSystem,
  SLUG,
  SYSTEM_STATUSES,
  SYSTEM_TEXTS,
  type SystemText,
} from "../entities/system-texts.ts";
import { cleanText } from "./clean-text.ts";
import { byWord, headingOf } from "./field-words.ts";
import { splitSections, type Document, type Section } from "./split-sections.ts";

/** A system read from a document, and what was not understood or was changed. */
export interface ParsedSystem {
  readonly system: NewSystem;
  readonly warnings: readonly string[];
}

const NAME_CHARS = 120;
const TEXT_CHARS = 4_000;
/** Lines about dependencies that are looked at; later ones are text. */
const MOST_LINES = 400;

interface Reading {
  /** Names the system where the document does not. */
  readonly fileName?: string | undefined;
  /**
   * Takes a line about what the system depends on. False: the line names no system, so it stays a
   * text. Default: no line names one.
   */
  readonly takeLink?: (line: string) => boolean;
}

/**
 * Reads a game system from Markdown. It takes any text: what it cannot place becomes implementation
 * notes, what is too long is cut, and each such thing is a warning. Undefined: there is no text.
 * Contract: pure, but for what `takeLink` does; never throws; linear.
 */
export function parseSystem(
  markdown: string,
  { fileName, takeLink = () => false }: Reading = {},
): ParsedSystem | undefined {
  const document = splitSections(cleanText(markdown));
  const { facts } = document;
  const named = facts.get("name") ?? document.title ?? nameOfFile(fileName);
  const isEmpty = document.sections.every(({ text, heading }) => text === "" && heading === "");
  if (named === undefined && isEmpty) return undefined;
  const warnings: string[] = [];
  if (named === undefined) warnings.push("It has no title.");
  if (document.isFenceOpen) warnings.push("A code block has no end.");
  const name = cutText((named ?? "Imported system").replaceAll(/\s+/g, " ").trim(), NAME_CHARS);
  const slug = facts.get("slug") ?? name;
  const criticality = readChoice(facts.get("mvpCriticality"), CRITICALITIES, warnings);
  const status = readChoice(facts.get("status"), SYSTEM_STATUSES, warnings);
  const system: NewSystem = {
    name,
    systemSlug: SLUG.test(slug) ? slug : (toSlug(slug) ?? "imported-system"),
    ...(criticality && { mvpCriticality: criticality }),
    ...(status && { status }),
    ...readTexts(document, takeLink, warnings),
  };
  return { system, warnings };
}

function nameOfFile(fileName = ""): string | undefined {
  const name = fileName.replace(/^.*[/\\]/, "").replace(/\.[A-Za-z]{1,10}$/, "");
  const words = name.replaceAll(/[-_]+/g, " ").trim();
  return words === "" ? undefined : words;
}

/** Reads a fact that has one of few values. */
function readChoice<Value extends string>(
  fact: string | undefined,
  values: readonly Value[],
  warnings: string[],
): Value | undefined {
  const choice = values.find((value) => value === fact?.toLowerCase());
  if (fact !== undefined && choice === undefined) {
    warnings.push(`${quote(fact)} is none of ${values.join(", ")}.`);
  }
  return choice;
}

const LINKS = "dependsOn";
type Field = SystemText | typeof LINKS;

/** Fields by words of headings. */
const FIELD_OF: ReadonlyMap<string, Field> = byWord<Field>({
  purpose: "overview summary description introduction",
  coreMechanics: "mechanics gameplay coreloop rules",
  currentState: "current today",
  targetState: "target goal goals vision",
  inputs: "input",
  outputs: "output",
  failureStates: "failures failuremodes edgecases risks",
  scalingBehavior: "scalingbehaviour scaling balancing",
  implementationNotes: "implementation technicalnotes notes",
  openQuestions: "questions open todo",
  dependsOn: "dependencies requires",
});

const NOTES = "implementationNotes";

/** Finds what the sections say about each field, and about dependencies. */
function readTexts(
  { facts, sections }: Document,
  takeLink: (line: string) => boolean,
  warnings: string[],
): { readonly [Name in SystemText]?: string } {
  const found = placeSections(sections, warnings);
  const textOf = (field: Field): string => (found.get(field) ?? []).join("\n\n").trim();
  const lines = [...(facts.get(LINKS)?.split(",") ?? []), ...textOf(LINKS).split("\n")];
  const left = lines.filter(
    (line, at) => line.trim() !== "" && (at >= MOST_LINES || !takeLink(line)),
  );
  if (left.length > 0) {
    found.set(NOTES, [...(found.get(NOTES) ?? []), `**${headingOf(LINKS)}**`, left.join("\n")]);
  }
  const texts = SYSTEM_TEXTS.flatMap((name) => {
    const text = textOf(name);
    if (text.length > TEXT_CHARS) warnings.push(`${name} is cut to ${TEXT_CHARS} characters.`);
    return text === "" ? [] : [[name, cutText(text, TEXT_CHARS)] as const];
  });
  return Object.fromEntries(texts);
}

/** Gives each section its field. */
function placeSections(sections: readonly Section[], warnings: string[]): Map<Field, string[]> {
  const found = new Map<Field, string[]>();
  let field: Field | undefined = "purpose";
  let unplaced = 0;
  for (const { heading, depth, text } of sections) {
    const known: Field | undefined = FIELD_OF.get(toWord(heading));
    // A heading below the heading of a field is a part of its text.
    const isPart = depth > 2 && known === undefined;
    if (!isPart && heading !== "") field = known;
    const target = field ?? NOTES;
    const isNamed = heading !== "" && known === undefined;
    if (isNamed && !isPart) unplaced += 1;
    const paragraphs = [isNamed ? `**${heading}**` : "", text].filter((part) => part !== "");
    const collected = found.get(target) ?? [];
    collected.push(...paragraphs);
    found.set(target, collected);
  }
  if (unplaced > 0) {
    warnings.push(`Unknown sections in the notes: ${unplaced}.`);
  }
  return found;
}

function toWord(heading: string): string {
  return heading.toLowerCase().replaceAll(/[^a-z]/g, "");
}
