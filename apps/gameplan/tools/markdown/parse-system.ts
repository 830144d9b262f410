import { cutText, toSlug } from "../cut-text.ts";
import type { NewSystem } from "../game-system/add-system.ts";
import { SYSTEM_TEXTS, type SystemText } from "../entities/game-system.ts";
import { splitSections, type Section } from "./split-sections.ts";

/** A system read from a document, and what the reader should know about the reading. */
export interface ParsedSystem {
  readonly system: NewSystem;
  readonly warnings: readonly string[];
}

const NAME_CHARS = 120;
const TEXT_CHARS = 4_000;

/**
 * Reads a game system from Markdown. It takes any text: what it cannot place becomes implementation
 * notes, what is too long is cut, and each such thing is a warning. Undefined: there is no text.
 * Contract: pure; never throws; linear.
 */
export function parseSystem(markdown: string, fileName?: string): ParsedSystem | undefined {
  const document = splitSections(clean(markdown));
  const named = document.facts.get("name") ?? document.title ?? nameOfFile(fileName);
  const isEmpty = document.sections.every(({ text, heading }) => text === "" && heading === "");
  if (named === undefined && isEmpty) return undefined;
  const warnings: string[] = [];
  if (named === undefined) warnings.push("The document has no title.");
  if (document.isFenceOpen) warnings.push("A code block has no end.");
  const name = cutText((named ?? "Imported system").replaceAll(/\s+/g, " ").trim(), NAME_CHARS);
  const system: NewSystem = {
    name,
    systemSlug: slugFrom(document.facts.get("slug")) ?? toSlug(name) ?? "imported-system",
    ...readChoice(document.facts, "mvpCriticality", warnings),
    ...readChoice(document.facts, "status", warnings),
    ...readTexts(document.sections, warnings),
  };
  return { system, warnings };
}

/** Drops what no document needs: a byte order mark, control characters, halves of characters. */
function clean(markdown: string): string {
  const kept: string[] = [];
  for (const character of markdown.toWellFormed().replaceAll(/\r\n?/g, "\n")) {
    const isControl = character < " " && character !== "\n" && character !== "\t";
    if (!isControl && character !== "\u007F" && character !== "\uFEFF") kept.push(character);
  }
  return kept.join("");
}

function nameOfFile(fileName = ""): string | undefined {
  const name = fileName.replace(/^.*[/\\]/, "").replace(/\.[A-Za-z]{1,10}$/, "");
  const words = name.replaceAll(/[-_]+/g, " ").trim();
  return words === "" ? undefined : words;
}

function slugFrom(fact: string | undefined): string | undefined {
  return fact === undefined ? undefined : toSlug(fact);
}

const CHOICES = {
  mvpCriticality: ["core", "important", "later"],
  status: ["draft", "active", "deprecated"],
} as const;

function readChoice(
  facts: ReadonlyMap<string, string>,
  field: keyof typeof CHOICES,
  warnings: string[],
): { readonly [Field in keyof typeof CHOICES]?: string } {
  const fact = facts.get(field)?.toLowerCase();
  if (fact === undefined) return {};
  const choice = CHOICES[field].find((value) => value === fact);
  if (choice !== undefined) return { [field]: choice };
  warnings.push(`The ${field} is none of ${CHOICES[field].join(", ")}.`);
  return {};
}

/** Words of headings, without spaces, and the field that they mean. */
const FIELD_OF: ReadonlyMap<string, SystemText> = new Map(
  Object.entries({
    purpose: ["purpose", "overview", "summary", "description", "introduction"],
    coreMechanics: ["coremechanics", "mechanics", "gameplay", "coreloop", "rules"],
    currentState: ["currentstate", "current", "today"],
    targetState: ["targetstate", "target", "goal", "goals", "vision"],
    inputs: ["inputs", "input"],
    outputs: ["outputs", "output"],
    failureStates: ["failurestates", "failures", "failuremodes", "edgecases", "risks"],
    scalingBehavior: ["scalingbehavior", "scalingbehaviour", "scaling", "balancing"],
    implementationNotes: ["implementationnotes", "implementation", "technicalnotes", "notes"],
    openQuestions: ["openquestions", "questions", "open", "todo"],
  }).flatMap(([field, words]) => words.map((word) => [word, field as SystemText] as const)),
);

function readTexts(
  sections: readonly Section[],
  warnings: string[],
): { readonly [Field in SystemText]?: string } {
  const found = new Map<SystemText, string[]>();
  let field: SystemText | undefined = "purpose";
  let unplaced = 0;
  for (const { heading, depth, text } of sections) {
    const known: SystemText | undefined = FIELD_OF.get(toWord(heading));
    // A heading below the heading of a field is a part of its text.
    const isPart = depth > 2 && known === undefined;
    if (!isPart && heading !== "") field = known;
    const target: SystemText = field ?? "implementationNotes";
    const isNamed = heading !== "" && known === undefined;
    if (isNamed && !isPart) unplaced += 1;
    const paragraphs = [isNamed ? `**${heading}**` : "", text].filter((part) => part !== "");
    const collected = found.get(target) ?? [];
    collected.push(...paragraphs);
    found.set(target, collected);
  }
  if (unplaced > 0) {
    const sections = unplaced === 1 ? "1 unknown section is" : `${unplaced} unknown sections are`;
    warnings.push(`${sections} in the implementation notes.`);
  }
  const texts = SYSTEM_TEXTS.flatMap((name) => {
    const text = (found.get(name) ?? []).join("\n\n").trim();
    if (text.length > TEXT_CHARS) warnings.push(`${name} is cut to ${TEXT_CHARS} characters.`);
    return text === "" ? [] : [[name, cutText(text, TEXT_CHARS)] as const];
  });
  return Object.fromEntries(texts);
}

function toWord(heading: string): string {
  return heading.toLowerCase().replaceAll(/[^a-z]/g, "");
}
