import { readFileSync } from "node:fs";

/** The rows of the table of a page whose header begins so. */
export function rowsOf(file: string, header: string): readonly string[] {
  const table = new RegExp(`\\n[|] ${header}[^\\n]*\\n[|][^\\n]*\\n((?:[|][^\\n]*\\n)+)`);
  const [, rows = ""] = table.exec(readFileSync(file, "utf8")) ?? [];
  return rows
    .trimEnd()
    .split("\n")
    .map((row) =>
      row
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim())
        .join(" | "),
    );
}
