import type { Cell, Row } from "./evaluate.ts";
import { TEST_MODES } from "./test-modes.ts";

/** Formats a table with a row for each contract and a column for each mode. */
export function formatResultTable(rows: readonly Row[]): readonly string[] {
  const table = [
    ["contract", ...TEST_MODES.map(({ id }) => id)],
    ...rows.map(({ key, cells }) => [key, ...cells.map(({ verdict }) => verdict)]),
  ];
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  );
  return table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** Formats the reasons of inapplicable cells, and what each failed cell saw. */
export function formatLegend(rows: readonly Row[]): readonly string[] {
  return [...formatReasons(rows), ...formatFailures(rows)];
}

/** Formats every check of every cell. */
export function formatChecks({ key, cells }: Row): readonly string[] {
  return cells.flatMap(({ mode, verdict, checks }) => [
    `${key}  ${mode.name}: ${verdict}`,
    ...checks.map(({ rule, times, broken }) => {
      return `  ${broken === undefined ? "ok  " : "FAIL"} ${rule}${times > 1 ? ` (${times})` : ""}`;
    }),
  ]);
}

/** Formats the counts of the cells as one line. */
export function countCells(rows: readonly Row[]): string {
  const cells = rows.flatMap((row) => row.cells);
  const count = (verdict: Cell["verdict"]): string =>
    `${cells.filter((cell) => cell.verdict === verdict).length} ${verdict}`;
  const counts = (["pass", "fail", "-"] as const).map(count).join(", ");
  return `versions ${rows.length}, modes ${TEST_MODES.length}: ${counts}`;
}

function formatReasons(rows: readonly Row[]): readonly string[] {
  const keysByReason = new Map<string, string[]>();
  for (const mode of TEST_MODES) {
    for (const { key, cells } of rows) {
      const cell = cells.find((candidate) => candidate.mode === mode);
      if (cell?.verdict !== "-") continue;
      const line = `  ${mode.id}: ${cell.reason ?? ""}`;
      keysByReason.set(line, [...(keysByReason.get(line) ?? []), key]);
    }
  }
  if (keysByReason.size === 0) return [];
  const lines = [...keysByReason].flatMap(([line, keys]) => [
    line,
    `    ${keys.length === rows.length ? "every contract" : keys.join(", ")}`,
  ]);
  return ["-, which does not apply because of the contract itself", ...lines];
}

function formatFailures(rows: readonly Row[]): readonly string[] {
  return rows.flatMap(({ key, cells }) =>
    cells
      .filter(({ verdict }) => verdict === "fail")
      .flatMap(({ mode, checks }) => [`FAIL ${key}, ${mode.name}`].concat(formatBroken(checks))),
  );
}

function formatBroken(checks: Cell["checks"]): readonly string[] {
  if (checks.length === 0) return ["  nothing was checked"];
  return checks
    .filter(({ broken }) => broken !== undefined)
    .map(({ rule, broken }) => `  ${rule}: ${broken ?? ""}`);
}
