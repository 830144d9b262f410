import type { Figure, Ratio } from "./measure.ts";

const COLUMNS = [
  ["interlock", "Interlock"],
  ["passThrough", "pass-through"],
  ["rewrite", "parse and rewrite"],
  ["honoOpenai", "Hono + openai"],
  ["aiSdk", "AI SDK"],
  ["sketch", "sketch"],
  ["cloudflareAgent", "Cloudflare's agent"],
  ["direct", "direct"],
] as const;

/** Formats the verdict of a ratio. Empty when the ratio has no aim. */
export function verdictOf(ratio: Ratio | undefined): "" | "pass" | "FAIL" {
  if (ratio?.atMost === undefined) return "";
  return ratio.value <= ratio.atMost ? "pass" : "FAIL";
}

/** Formats the figures as one table: the ratio and its aim, then the measured values. */
export function formatTable(figures: readonly Figure[]): string {
  const titles = [
    "measure",
    "ratio",
    "range",
    "to",
    "aim",
    "",
    "unit",
    ...COLUMNS.map(([, title]) => title),
  ];
  const rows = figures.map(({ name, unit, raw, ratio }) => [
    name,
    ratio ? ratio.value.toFixed(2) : "",
    ratio?.range?.map((value) => value.toFixed(2)).join(", ") ?? "",
    ratio?.to ?? "",
    ratio?.atMost === undefined ? "" : `<= ${ratio.atMost}`,
    verdictOf(ratio),
    unit,
    ...COLUMNS.map(([column]) => formatRaw(raw[column])),
  ]);
  return layOut([titles, ...rows]);
}

function formatRaw(value: number | undefined): string {
  if (value === undefined) return "";
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}

function layOut(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths?.[column] ?? 0))
      .join("  ")
      .trimEnd();
  return rows.map(line).join("\n");
}
