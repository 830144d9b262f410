import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import * as v from "valibot";
import { CommandError, messageOf } from "../command.ts";

/** Secrets of an environment by their names; undefined for one whose value is not known. */
export type KnownSecrets = ReadonlyMap<string, string | undefined>;

const listed = v.array(v.object({ name: v.string() }));

/**
 * Reads which secrets an environment has: the list that `wrangler secret list` prints, or lines
 * `NAME=value`. The file `-` is the standard input.
 * Fails: throws a CommandError without a word of the file.
 */
export function readSecrets(file: string): KnownSecrets {
  const text = readText(file);
  if (!/^\s*\[/.test(text)) return new Map(Object.entries(parseEnv(text)));
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), listed), text);
  if (read.success) return new Map(read.output.map(({ name }) => [name, undefined]));
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
