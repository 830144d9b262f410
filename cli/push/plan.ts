import { hashOf, toCanonicalJson } from "../../src/protocol/json/canonical-hash.ts";
import { type Difference, listDifferences } from "./differences.ts";
import { type DocumentKey, kindOf, type LocalDocument } from "./local-documents.ts";
import type { StoredDocument } from "./stored-documents.ts";

/**
 * What `push` makes of one document.
 * - `create`, `update`, `delete`: changes the deployment, if that still stores what was read.
 * - `store`: sends a connection, which cannot be compared.
 * - `unchanged`: both sides are the same.
 * - `drift`: the deployment was changed after the last push, or was never pushed to.
 * - `unmanaged`: only the deployment has it, and it stays.
 * - `removed`: was pushed and has no file any more; it stays until `--delete`.
 * - `forget`: was pushed, and neither side has it any more.
 */
export type Action =
  | "create"
  | "update"
  | "store"
  | "delete"
  | "unchanged"
  | "drift"
  | "unmanaged"
  | "removed"
  | "forget";

/** One document of a plan. */
export interface PlannedDocument {
  readonly key: DocumentKey;
  readonly action: Action;
  /** Why, where the action alone does not say it. */
  readonly note?: string;
  /** From what is stored to the file. */
  readonly differences: readonly Difference[];
  readonly local?: LocalDocument;
  readonly stored: StoredDocument;
}

/** Everything that decides about one document: the file, the deployment, the last push. */
export interface DocumentSides {
  readonly key: DocumentKey;
  readonly local: LocalDocument | undefined;
  readonly stored: StoredDocument;
  /** Hash of what was last pushed or taken over. */
  readonly pushed: string | undefined;
  /** `--delete` was given. */
  readonly deletes: boolean;
  /** `--renew` names this key: its secret is sent again. */
  readonly renews: boolean;
}

/** Decides about one document. Contract: no I/O; drift is never turned into a change. */
export async function planDocument(sides: DocumentSides): Promise<PlannedDocument> {
  const { key, local, stored, pushed, renews } = sides;
  if (!local) return planWithoutFile(sides);
  const base = { key, local, stored };
  if (stored.kind === "write_only") {
    const isPushed = pushed === (await hashOf(local.shown)) && !renews;
    return { ...base, action: isPushed ? "unchanged" : "store", differences: [] };
  }
  const known = withoutSecrets(local);
  const differences = listDifferences(stored.kind === "stored" ? stored.shown : undefined, known);
  if (stored.kind === "absent") {
    const note = "it was deleted at the deployment after the last push";
    if (pushed !== undefined) return { ...base, action: "drift", note, differences };
    return { ...base, action: "create", differences };
  }
  if (toCanonicalJson(stored.shown) === toCanonicalJson(known)) {
    return { ...base, action: renews ? "update" : "unchanged", differences };
  }
  if (stored.hash === pushed) return { ...base, action: "update", differences };
  const note =
    pushed === undefined
      ? "the deployment has one that this project never pushed"
      : "somebody changed it at the deployment after the last push";
  return { ...base, action: "drift", note, differences };
}

function planWithoutFile({ key, stored, pushed, deletes }: DocumentSides): PlannedDocument {
  const base = { key, stored, differences: [] };
  if (pushed === undefined) return { ...base, action: "unmanaged" };
  if (stored.kind === "absent") return { ...base, action: "forget" };
  if (kindOf(key) === "policy") {
    const note = "a policy cannot be deleted; push one that allows nothing";
    return { ...base, action: "unmanaged", note };
  }
  if (stored.kind === "stored" && stored.hash !== pushed) {
    const note = "its file is gone, and somebody changed it after the last push";
    return { ...base, action: "drift", note };
  }
  return { ...base, action: deletes ? "delete" : "removed" };
}

/** The part of a document that the deployment returns. */
export function withoutSecrets({ kind, shown }: LocalDocument): LocalDocument["shown"] {
  if (kind !== "providers") return shown;
  const { apiKey: _apiKey, ...terms } = shown;
  return terms;
}
