import { CommandError } from "../command.ts";
import { applyPlan, type AppliedDocument, readBodies } from "../push/apply-plan.ts";
import { createClient } from "../push/deployment-client.ts";
import { readLocalDocuments } from "../push/local-documents.ts";
import type { PlannedDocument } from "../push/plan.ts";
import type { PushedRecord } from "../push/pushed-record.ts";
import { formatWarnings } from "../push/report.ts";
import { readPlan } from "../push/read-plan.ts";
import { placeOf } from "../push/tenant-files.ts";

/** The tenant of development, the project that has its files, and what was stored of them. */
export interface DevelopmentTenant {
  /** Of the platform's local server: nothing else is answered before the files are stored. */
  readonly url: string;
  /** Headers that say who stores them. */
  readonly own: Readonly<Record<string, string>>;
  readonly project: string;
  readonly record: PushedRecord;
}

/** Whether files win over what somebody changed over HTTP. */
interface Storing {
  readonly replaces: boolean;
}

/** What became of the files. Each text is a line. */
export interface StoredTenant {
  readonly stored: readonly string[];
  /** What of them is valid and cannot work. */
  readonly warned: readonly string[];
  /** Documents that somebody changed over HTTP. */
  readonly kept: readonly string[];
  /** Why a file was not stored. */
  readonly refused: readonly string[];
}

/**
 * Stores the policy and the assistants of the project: those that the tenant does not have, and
 * those whose file changed since it was stored. What somebody changed over HTTP stays.
 * Connections and providers need secrets, so `interlock push` stores them.
 * Contract: never throws a CommandError; it is among the refusals.
 */
export async function storeTenant(
  tenant: DevelopmentTenant,
  storing: Storing = { replaces: false },
): Promise<StoredTenant> {
  try {
    return await store(tenant, storing);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { stored: [], warned: [], kept: [], refused: [error.message] };
  }
}

async function store(
  { url, own, project, record }: DevelopmentTenant,
  { replaces }: Storing,
): Promise<StoredTenant> {
  const local = readLocalDocuments(project).filter(
    ({ kind }) => kind === "policy" || kind === "assistants",
  );
  const send = createClient({ environment: "development", url, own });
  const pushed = record.hashes;
  const asked = { deletes: false, renewed: new Set<string>(), kinds: [] };
  const read = await readPlan({ send, local, pushed, ...asked });
  const plan = replaces ? read.map(replaceDrift) : read;
  const bodies = readBodies(plan, noVariable);
  const applied = await applyPlan(plan, { send, record, bodies });
  return {
    stored: applied
      .filter(({ outcome }) => outcome === "applied")
      .map(({ key }) => `tenant/${key}.json is stored.`),
    warned: applied.flatMap((document) => formatWarnings(document, project)),
    kept: plan.filter(({ action }) => action === "drift").map(describeDrift),
    refused: applied.flatMap((document) => describeRefusal(document, project)),
  };
}

/** Policies and assistants hold no secrets. */
function noVariable(name: string): never {
  throw new CommandError(`${name} is not set.`);
}

/** Contract: a document that somebody changes at this moment still wins. */
function replaceDrift(document: PlannedDocument): PlannedDocument {
  const isKept = document.action === "drift" && document.local !== undefined;
  return isKept ? { ...document, action: "update" } : document;
}

function describeDrift({ key, local }: PlannedDocument): string {
  const place = `tenant/${key}.json`;
  if (!local) return `${place} is gone, but somebody changed over HTTP what the tenant has.`;
  return (
    `${place} is not stored, because somebody changed or deleted over HTTP what the tenant has. ` +
    "To use the files of tenant instead, restart with: npm run dev -- --replace"
  );
}

/** Writes the fields that were refused, with their lines. */
function describeRefusal(
  { key, outcome, reason, fields = [] }: AppliedDocument,
  project: string,
): readonly string[] {
  if (outcome === "applied" || outcome === "not_tried") return [];
  if (fields.length === 0) return [`${placeOf(project, key, "")}: ${reason}`];
  return fields.map(
    ({ pointer, message }) => `${placeOf(project, key, pointer)}: ${pointer}: ${message}`,
  );
}
