import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as v from "valibot";
import { CommandError } from "../command.ts";
import { readJsonFile } from "../tenant-files.ts";
import type { DocumentKey } from "./local-documents.ts";

const record = v.record(v.string(), v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/)));

/**
 * What the project last pushed to an environment, or took over from it: the hash of each document.
 * It is a committed file, so that everybody who pushes sees the pushes of the others.
 */
export interface PushedRecord {
  readonly hashes: ReadonlyMap<DocumentKey, string>;
  /** Stores a hash, or with undefined forgets it. The file is whole at any time. */
  readonly set: (key: DocumentKey, hash: string | undefined) => void;
}

/**
 * Opens `tenant/pushed/<environment>.json`. Fails: throws a CommandError when the file is not one
 * that `push` wrote.
 */
export function openRecord(project: string, environment: string): PushedRecord {
  const name = `tenant/pushed/${environment}.json`;
  const file = join(project, name);
  const read = v.safeParse(record, readJsonFile(file) ?? {});
  if (!read.success) {
    throw new CommandError(
      `${name} is not a record that interlock push wrote. Restore it from git.`,
    );
  }
  const hashes = new Map(Object.entries(read.output));
  return {
    hashes,
    set(key, hash) {
      if (hashes.get(key) === hash) return;
      if (hash === undefined) hashes.delete(key);
      else hashes.set(key, hash);
      mkdirSync(dirname(file), { recursive: true });
      const sorted = Object.fromEntries([...hashes].toSorted(([a], [b]) => (a < b ? -1 : 1)));
      const draft = `${file}.${process.pid}`;
      writeFileSync(draft, `${JSON.stringify(sorted, undefined, 2)}\n`);
      renameSync(draft, file);
    },
  };
}
