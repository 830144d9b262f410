import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { CommandError } from "../command.ts";

const LINE = /^(loaded|refused) [0-9a-f]{40}-\d+$/;

/** Which rows of a file one deployment has already, and which ones it refused without an effect. */
export interface SeedRecord {
  readonly isLoaded: (name: string) => boolean;
  /** How often the row was refused. A refused row is sent again as another call. */
  readonly refusals: (name: string) => number;
  readonly note: (what: "loaded" | "refused", name: string) => void;
}

/**
 * Opens the record of a file: a line for each answer, so that it is whole at any time. Without the
 * record, rows are sent again under the same keys, and the deployment answers their outcomes.
 * Fails: throws a CommandError when the file is not one that `seed` wrote.
 */
export function openSeedRecord(file: string): SeedRecord {
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  // The last line may be cut off, by a crash while it was written.
  const whole = lines.slice(0, -1);
  if (!whole.every((line) => LINE.test(line))) {
    throw new CommandError(`${file} is not a record that interlock seed wrote. Move it away.`);
  }
  if ((lines.at(-1) ?? "") !== "") appendFileSync(file, "\n");
  const loaded = new Set<string>();
  const refused = new Map<string, number>();
  const remember = (line: string): void => {
    const [what, name = ""] = line.split(" ");
    if (what === "loaded") loaded.add(name);
    else refused.set(name, (refused.get(name) ?? 0) + 1);
  };
  for (const line of whole) remember(line);
  return {
    isLoaded: (name) => loaded.has(name),
    refusals: (name) => refused.get(name) ?? 0,
    note(what, name) {
      const line = `${what} ${name}`;
      remember(line);
      appendFileSync(file, `${line}\n`);
    },
  };
}
