import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import * as v from "valibot";
import { CommandError, messageOf } from "../command.ts";

/** The secrets of an environment. */
export interface KnownSecrets {
  /** By their names; undefined for one whose value is not known. */
  readonly values: ReadonlyMap<string, string | undefined>;
  /** Names the file, and the line of a secret that it holds: `secrets.env:2`. */
  readonly placeOf: (name: string) => string;
}

const listed = v.array(v.object({ name: v.string() }));

/**
 * Reads which secrets an environment has: the list that `wrangler secret list` prints, or lines
 * `NAME=value`. The file `-` is the standard input.
 * Fails: throws a CommandError without a word of the file.
 */
export function readSecrets(file: string): KnownSecrets {
  const text = readText(file);
  const place = file === "-" ? "standard input" : file;
  if (!/^\s*\[/.test(text)) {
    const lines = text.split("\n").map((line) => /^\s*(?:export\s+)?(\w+)\s*=/.exec(line)?.[1]);
    return {
      values: new Map(Object.entries(parseEnv(text))),
      placeOf: (name) => (lines.includes(name) ? `${place}:${lines.lastIndexOf(name) + 1}` : place),
    };
  }
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), listed), text);
  if (read.success) {
    const values = new Map(read.output.map(({ name }) => [name, undefined]));
    return { values, placeOf: () => place };
  }
  throw new CommandError(
    `${file} holds no list of secrets. Write one: npx wrangler secret list --env NAME`,
  );
}

function readText(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${messageOf(error)}`);
  }
}
