import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as v from "valibot";
import { CommandError } from "../command.ts";
import { readJsonFile } from "./tenant-files.ts";
import type { DocumentKey } from "./local-documents.ts";

const record = v.record(v.string(), v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/)));

/**
 * What the project last stored at a deployment, or took over from it: the hash of each document.
 */
export interface PushedRecord {
  readonly hashes: ReadonlyMap<DocumentKey, string>;
  /** Stores a hash, or with undefined forgets it. The file is whole at any time. */
  readonly set: (key: DocumentKey, hash: string | undefined) => void;
}

/**
 * Opens `tenant/pushed/<environment>.json`. It is a committed file, so that everybody who pushes
 * sees the pushes of the others. Fails: throws a CommandError when the file is not one that `push`
 * wrote.
 */
export function openRecord(project: string, environment: string): PushedRecord {
  const name = `tenant/pushed/${environment}.json`;
  const refusal = `${name} is not a record that interlock push wrote. Restore it from git.`;
  return openRecordFile(join(project, name), refusal);
}

/** Opens the record of `interlock dev`, beside its state. Fails: as `openRecord`. */
export function openDevelopmentRecord(persistTo: string): PushedRecord {
  const file = join(persistTo, "tenant-record.json");
  const refusal = `${file} is not a record that interlock dev wrote. Delete it.`;
  return openRecordFile(file, refusal);
}

function openRecordFile(file: string, refusal: string): PushedRecord {
  const read = v.safeParse(record, readJsonFile(file) ?? {});
  if (!read.success) throw new CommandError(refusal);
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
