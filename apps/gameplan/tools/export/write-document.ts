import type { GraphNode } from "../entities/dependency.ts";
import type { DocumentExport } from "../entities/document-export.ts";
import { type GameSystem } from "../entities/game-system.ts";
import { SYSTEM_TEXTS } from "../entities/system-texts.ts";
import { headingOf } from "../markdown/field-words.ts";
import { DocumentWriter } from "./document-writer.ts";
import { block, inline } from "./markdown-text.ts";
import type { ProjectSources } from "./project-sources.ts";

/**
 * Writes the document of a project: a game design document, a product requirements document, or a
 * status report. Contract: pure, but for what `sources` reads.
 */
export function writeDocument(kind: DocumentExport["kind"], sources: ProjectSources): string {
  const writer = new DocumentWriter();
  const { project, title, date } = sources;
  writer.heading(1, inline(title));
  writer.table(
    ["Project", "Genre", "Platform", "Status", "Date"],
    [[project.name, project.genre, project.platform, project.status, date].map(cell)],
  );
  WRITERS[kind](writer, sources);
  return writer.finish();
}

const cell = (text: string): string => inline(text) || "-";

const WRITERS: {
  readonly [Kind in DocumentExport["kind"]]: (
    writer: DocumentWriter,
    sources: ProjectSources,
  ) => void;
} = {
  GDD(writer, sources) {
    section(writer, "Overview", sources.project.description);
    systemTable(writer, sources);
    writer.heading(2, "Systems");
    eachSystem(writer, sources, (system) => {
      for (const field of SYSTEM_TEXTS) {
        // The questions of all systems stand together at the end.
        if (field !== "openQuestions") writeText(writer, headingOf(field), system[field]);
      }
    });
    plans(writer, sources);
    openQuestions(writer, sources);
  },
  PRD(writer, sources) {
    section(writer, "Goal", sources.project.description);
    scope(writer, sources);
    writer.heading(2, "Requirements");
    eachSystem(writer, sources, (system) => {
      writeText(writer, "Why", system.purpose);
      writeText(writer, "The player can", system.coreMechanics);
      writeText(writer, "Done when", system.targetState);
      writeText(writer, "Must not happen", system.failureStates);
      writeText(writer, "Must scale", system.scalingBehavior);
    });
    plans(writer, sources);
    openQuestions(writer, sources);
  },
  other(writer, sources) {
    section(writer, "Overview", sources.project.description);
    systemTable(writer, sources);
    plans(writer, sources);
    sessions(writer, sources);
    if (sources.openThreads.length > 0) {
      writer.heading(2, "Open discussions");
      writer.list(sources.openThreads.map(inline));
    }
    openQuestions(writer, sources);
  },
};

function section(writer: DocumentWriter, heading: string, text: string): void {
  if (text === "") return;
  writer.heading(2, heading);
  writer.paragraph(block(text));
}

const TABLE_ROWS = 500;

function systemTable(writer: DocumentWriter, { nodes, edges }: ProjectSources): void {
  writer.heading(2, "Systems at a glance");
  if (nodes.length === 0) writer.paragraph("The project has no systems yet.");
  const shown = nodes.slice(0, TABLE_ROWS);
  writer.table(
    ["Order", "System", "Slug", "Criticality", "Status"],
    shown.map(({ position, name, systemSlug, mvpCriticality, status }) => [
      String(position + 1),
      inline(name),
      `\`${systemSlug}\``,
      mvpCriticality,
      status,
    ]),
  );
  if (nodes.length > shown.length) writer.paragraph(`And ${nodes.length - shown.length} more.`);
  const count = edges.length === 1 ? "1 dependency decides" : `${edges.length} dependencies decide`;
  if (edges.length > 0) writer.paragraph(`${count} the order.`);
}

const SCOPES = [
  ["core", "Must have"],
  ["important", "Should have"],
  ["later", "Later"],
] as const;

function scope(writer: DocumentWriter, { nodes }: ProjectSources): void {
  writer.heading(2, "Scope");
  for (const [criticality, heading] of SCOPES) {
    const names = nodes
      .filter(({ mvpCriticality }) => mvpCriticality === criticality)
      .map(({ name }) => inline(name));
    if (names.length === 0) continue;
    writer.heading(3, heading);
    writer.list(names.slice(0, TABLE_ROWS));
    if (names.length > TABLE_ROWS) writer.paragraph(`And ${names.length - TABLE_ROWS} more.`);
  }
}

function eachSystem(
  writer: DocumentWriter,
  { nodes, system, dependenciesOf }: ProjectSources,
  write: (system: GameSystem, node: GraphNode) => void,
): void {
  const left = nodes.findIndex((node) => {
    if (!writer.hasRoom) return true;
    const found = system(node.systemId);
    if (!found) return false;
    writer.heading(3, `${node.position + 1}. ${inline(found.name)}`);
    writer.paragraph(`\`${found.systemSlug}\`, ${found.mvpCriticality}, ${found.status}`);
    const dependencies = dependenciesOf(node.systemId);
    if (dependencies.length > 0) writer.paragraph(`Depends on: ${dependencies.join(", ")}.`);
    write(found, node);
    return false;
  });
  if (left >= 0) writer.paragraph(`Systems that do not fit: ${nodes.length - left}.`);
}

function writeText(writer: DocumentWriter, heading: string, text: string): void {
  if (text === "") return;
  writer.heading(4, heading);
  writer.paragraph(block(text));
}

function plans(writer: DocumentWriter, sources: ProjectSources): void {
  if (sources.plans.length === 0) return;
  writer.heading(2, "Versions");
  for (const { version, name, goal, status, phases } of sources.plans) {
    writer.heading(3, `${inline(version)}: ${inline(name)} (${status})`);
    writer.paragraph(block(goal));
    writer.table(
      ["Phase", "Systems"],
      phases.map(({ name: phase, systems }) => [
        inline(phase),
        systems.map((planned) => inline(planned.name)).join(", ") || "-",
      ]),
    );
  }
}

function sessions(writer: DocumentWriter, sources: ProjectSources): void {
  if (sources.sessions.length === 0) return;
  writer.heading(2, "Brainstorms");
  for (const { title, author, outputs } of sources.sessions) {
    writer.heading(3, inline(title));
    writer.paragraph(`By ${inline(author)}.`);
    writer.list(outputs.map(({ kind, text }) => `${kind}: ${inline(text)}`));
  }
}

function openQuestions(writer: DocumentWriter, { questions }: ProjectSources): void {
  if (questions.length === 0) return;
  writer.heading(2, "Open questions");
  for (const { name, text } of questions) {
    const lines = text.split("\n").map((line) => inline(line.replace(/^ *[-*+] /, "")));
    writer.list(lines.filter((line) => line !== "").map((line) => `${inline(name)}: ${line}`));
  }
}
