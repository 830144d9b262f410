import type { Send } from "./deployment-client.ts";
import {
  type DocumentKey,
  type Kind,
  kindOf,
  KINDS,
  type LocalDocument,
} from "./local-documents.ts";
import { planDocument, type PlannedDocument } from "./plan.ts";
import { listStored, readStored } from "./stored-documents.ts";

/** What a plan is made from. */
export interface PlanRequest {
  readonly send: Send;
  readonly local: readonly LocalDocument[];
  readonly pushed: ReadonlyMap<DocumentKey, string>;
  readonly deletes: boolean;
  readonly renewed: ReadonlySet<DocumentKey>;
  /** Kinds that are read even when the project has no document of them. */
  readonly kinds: readonly Kind[];
}

/**
 * Reads what the deployment stores and decides about every document, in the order in which they are
 * applied: deletions last, and against the order in which documents name each other.
 * Contract: changes nothing. Kinds that the project does not use are not read, so that the token
 * needs no scope for them.
 * Fails: throws a CommandError when the deployment does not answer.
 */
export async function readPlan(request: PlanRequest): Promise<readonly PlannedDocument[]> {
  const { send, local, pushed, deletes, renewed } = request;
  const documents = new Map(local.map((document) => [document.key, document]));
  const keys = new Set([...documents.keys(), ...pushed.keys()]);
  const kinds = new Set([...request.kinds, ...[...keys].map(kindOf)]);
  if (kinds.has("policy")) keys.add("policy");
  for (const kind of ["providers", "assistants"] as const) {
    if (kinds.has(kind)) for (const key of await listStored(send, kind)) keys.add(key);
  }
  const plan: PlannedDocument[] = [];
  for (const key of inOrder(keys)) {
    const sides = { local: documents.get(key), pushed: pushed.get(key) };
    const isKept = !sides.local && sides.pushed === undefined;
    const stored = await readStored(send, key);
    if (isKept && stored.kind === "absent") continue;
    const renews = renewed.has(key);
    plan.push(await planDocument({ key, stored, deletes, renews, ...sides }));
  }
  return [
    ...plan.filter(({ action }) => action !== "delete"),
    ...plan.filter(({ action }) => action === "delete").toReversed(),
  ];
}

function inOrder(keys: Iterable<DocumentKey>): readonly DocumentKey[] {
  const rankOf = (key: DocumentKey): number => KINDS.findIndex((kind) => kind === kindOf(key));
  return [...keys].toSorted((a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1));
}
