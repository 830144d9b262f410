import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { hashOf } from "../../src/protocol/json/canonical-hash.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import { maskValues } from "../../src/protocol/secrets/mask-values.ts";
import { CommandError, type Command, parsing, UsageError } from "../command.ts";
import { projectFolder } from "../project/folders.ts";
import { createClient } from "../push/deployment-client.ts";
import {
  type DocumentKey,
  kindOf,
  readLocalDocument,
  readLocalDocuments,
} from "../push/local-documents.ts";
import { type PlannedDocument, withoutSecrets } from "../push/plan.ts";
import { openRecord, type PushedRecord } from "../push/pushed-record.ts";
import { readPlan } from "../push/read-plan.ts";
import { formatPlan } from "../push/report.ts";
import { shorten } from "../push/shorten.ts";
import { readTarget } from "../push/target.ts";

export const command: Command = {
  usage:
    "Usage: interlock pull --env NAME [--overwrite] [KEY ...]\n" +
    "Takes over what a deployment stores into the files of the folder tenant, so that the next\n" +
    "push starts from it. KEY is policy, assistants/ID or providers/ID; without one, policy and all\n" +
    "assistants, and all providers if the project has one. Connections cannot be read back.\n" +
    "--overwrite: also replaces a file with changes that were never pushed.\n" +
    "Exit code 1: a file was left as it is, because of such changes.",
  run: pull,
};

/** Writes what a deployment stores into the project's files, and records it as pushed. */
async function pull(args: string[]): Promise<void> {
  const { environment, overwrites, keys } = readArguments(args);
  const project = projectFolder();
  const local = readLocalDocuments(project);
  const target = readTarget(project, environment);
  const record = openRecord(project, environment);
  const kinds =
    keys.size > 0
      ? [...keys].flatMap((key) => kindOf(key) ?? [])
      : (["policy", "assistants"] as const);
  const isWanted = (key: DocumentKey): boolean => keys.size === 0 || keys.has(key);
  const wanted = local.filter(({ key }) => isWanted(key));
  const pushed = new Map([...record.hashes].filter(([key]) => isWanted(key)));
  const plan = await readPlan({
    send: createClient(target),
    local: wanted,
    pushed,
    deletes: false,
    renewed: new Set(),
    kinds,
  });
  const mask = maskValues([target.token]);
  for (const document of plan.filter(({ key }) => isWanted(key))) {
    const line = await takeOver(document, { project, record, overwrites });
    const fields = line === undefined ? [] : formatPlan([document], false).slice(1);
    for (const text of [line ?? `${document.key}: unchanged`, ...fields]) console.log(mask(text));
  }
}

interface Files {
  readonly project: string;
  readonly record: PushedRecord;
  readonly overwrites: boolean;
}

/** Takes over one document. Returns what was done; undefined when both sides are the same. */
async function takeOver(
  { key, local, stored, differences }: PlannedDocument,
  { project, record, overwrites }: Files,
): Promise<string | undefined> {
  if (stored.kind === "write_only") return `${key}: cannot be read back; its file stays`;
  const pushed = record.hashes.get(key);
  if (stored.kind === "absent") {
    record.set(key, undefined);
    if (!local) return `${key}: gone on both sides`;
    return `${key}: the deployment has none. Delete the file, or push to create it`;
  }
  if (local && differences.length === 0) {
    record.set(key, stored.hash);
    return undefined;
  }
  const hasEdits = local && (await hashOf(withoutSecrets(local))) !== pushed;
  if (hasEdits && !overwrites) {
    process.exitCode = 1;
    return (
      `${key}: left as it is, because its file has changes that were never pushed. ` +
      "Commit the file, then pull with --overwrite and merge"
    );
  }
  writeDocument(project, key, { ...stored.shown, ...secretOf(key, local) });
  record.set(key, stored.hash);
  return `${key}: written to tenant/${key}.json`;
}

/**
 * Writes what push would accept, and nothing else.
 * Threat: a deployment that answers with something else for a file of the project.
 */
function writeDocument(project: string, key: DocumentKey, document: JsonObject): void {
  const kind = kindOf(key);
  if (!kind) throw new CommandError(`${key} is no key of a document.`);
  const id = kind === "policy" ? kind : key.slice(kind.length + 1);
  readLocalDocument({ kind, id, document });
  const file = join(project, `tenant/${key}.json`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(shorten(kind, document), undefined, 2)}\n`);
}

/** The name of the variable with the key of a provider. */
function secretOf(key: DocumentKey, local: PlannedDocument["local"]): JsonObject {
  if (kindOf(key) !== "providers") return {};
  const id = key.slice("providers/".length);
  const fallback = { variable: `${id.replaceAll(/\W/g, "_").toUpperCase()}_API_KEY` };
  return { apiKey: local?.shown["apiKey"] ?? fallback };
}

function readArguments(args: string[]) {
  const { values, positionals } = parsing(() =>
    parseArgs({
      args,
      allowPositionals: true,
      options: { env: { type: "string" }, overwrite: { type: "boolean", default: false } },
    }),
  );
  if (!values.env) throw new UsageError("--env is needed: a name of tenant/environments.json.");
  const unknown = positionals.find(
    (key) => kindOf(key) === undefined || kindOf(key) === "connections",
  );
  if (unknown !== undefined) {
    throw new UsageError(`KEY is policy, assistants/ID or providers/ID, not ${unknown}.`);
  }
  return {
    environment: values.env,
    overwrites: values.overwrite,
    keys: new Set(positionals),
  };
}
