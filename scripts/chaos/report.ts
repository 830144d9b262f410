import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Part, PartResult } from "./part.ts";

const DOCUMENT = join(import.meta.dirname, "../../docs/reliability.md");
const BEGIN = "<!-- chaos: written by npm run chaos -->";
const END = "<!-- /chaos -->";

type Results = readonly (readonly [Part, PartResult])[];

/** Formats the counts as a Markdown table. */
export function reportTable(results: Results): string {
  const rows = results.map(([{ name, claim }, { counts, failures }]) => {
    const counted = Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([what, count]) => `${toWords(what, count)} ${what}`);
    return [name, claim, counted.join(", "), String(failures.length)];
  });
  const table = [["part", "claim", "counted", "violations"], ...rows];
  const widths = [0, 1, 2, 3].map((column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  );
  const [head = "", ...body] = table.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`,
  );
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [head, rule, ...body].join("\n");
}

/** Writes the table between its markers in the guide. Fails: throws when a marker is missing. */
export function writeReport(results: Results): void {
  const text = readFileSync(DOCUMENT, "utf8");
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin === -1 || end < begin) throw new Error(`${DOCUMENT} has no place for the table`);
  const table = reportTable(results);
  writeFileSync(
    DOCUMENT,
    `${text.slice(0, begin + BEGIN.length)}\n\n${table}\n\n${text.slice(end)}`,
  );
}

/** Counts that depend on timing. */
const VARYING: ReadonlySet<string> = new Set([
  "runs",
  "crashes",
  "left alone",
  "points not reached",
  "tenant crashes",
  "approved calls",
  "rejected calls",
]);

/**
 * Rounds counts that depend on timing down to hundreds, so that the table is similar everywhere.
 */
function toWords(what: string, count: number): string {
  const hundreds = Math.floor(count / 100) * 100;
  return hundreds === 0 || hundreds === count || !VARYING.has(what)
    ? count.toLocaleString("en")
    : `over ${hundreds.toLocaleString("en")}`;
}
