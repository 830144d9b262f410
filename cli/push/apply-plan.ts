import { hashOf } from "../../src/protocol/json/canonical-hash.ts";
import type { JsonValue } from "../../src/protocol/json/value.ts";
import {
  type Answer,
  type DeploymentRequest,
  readFields,
  type RefusedField,
  type Send,
} from "./deployment-client.ts";
import type { DocumentKey } from "./local-documents.ts";
import { type PlannedDocument, withoutSecrets } from "./plan.ts";
import type { PushedRecord } from "./pushed-record.ts";
import { formatRefusal, type StoredDocument } from "./stored-documents.ts";

/**
 * What became of one document.
 * - `applied`: the deployment confirmed it, and the record holds it.
 * - `conflict`: somebody changed it after it was read; nothing was overwritten.
 * - `refused`: the deployment did not take it.
 * - `no_answer`: it may have been applied. The next push compares first.
 * - `not_tried`: an earlier document failed.
 */
export type Outcome = "applied" | "conflict" | "refused" | "no_answer" | "not_tried";

export interface AppliedDocument {
  readonly key: DocumentKey;
  readonly outcome: Outcome;
  readonly reason?: string;
  /** The fields that the deployment refused. */
  readonly fields?: readonly RefusedField[];
  /** What of the document is valid and cannot work. */
  readonly warnings?: readonly RefusedField[];
}

/** Body of each document that is sent, its secrets included. */
export type Bodies = ReadonlyMap<DocumentKey, JsonValue>;

/** Reads the secrets of all documents before the first is sent. Fails: throws a CommandError. */
export function readBodies(
  plan: readonly PlannedDocument[],
  readVariable: (name: string) => string,
): Bodies {
  const sent = plan.filter(({ action }) => ["create", "update", "store"].includes(action));
  return new Map(
    sent.flatMap(({ key, local }) => (local ? [[key, local.body(readVariable)] as const] : [])),
  );
}

/**
 * Applies a plan, document by document, and stops at the first that fails. Leaves drift alone.
 * Contract: compare-and-swap where the deployment has it; each applied document is recorded before
 * the next one is sent. Never throws for what the deployment answers.
 */
export async function applyPlan(
  plan: readonly PlannedDocument[],
  { send, record, bodies }: { send: Send; record: PushedRecord; bodies: Bodies },
): Promise<readonly AppliedDocument[]> {
  const applied: AppliedDocument[] = [];
  let isStopped = false;
  for (const document of plan) {
    const { key, action, stored } = document;
    if (action === "unchanged" && stored.kind === "stored") record.set(key, stored.hash);
    if (action === "forget") record.set(key, undefined);
    const request = toRequest(document, bodies.get(key));
    if (!request) continue;
    if (isStopped) {
      applied.push({ key, outcome: "not_tried" });
      continue;
    }
    const answer = await send(request);
    if (answer.kind === "ok") record.set(key, await hashAfter(document, answer));
    else isStopped = true;
    applied.push({ key, ...describe(answer) });
  }
  return applied;
}

function toRequest(
  { key, action, stored }: PlannedDocument,
  body: JsonValue | undefined,
): DeploymentRequest | undefined {
  const headers = preconditionOf(stored);
  const path = `/v1/${key}`;
  if (action === "delete") return { method: "DELETE", path, headers };
  return body === undefined ? undefined : { method: "PUT", path, body, headers };
}

function preconditionOf(stored: StoredDocument): Readonly<Record<string, string>> {
  if (stored.kind === "absent") return { "if-none-match": "*" };
  return stored.kind === "stored" && stored.etag !== undefined ? { "if-match": stored.etag } : {};
}

async function hashAfter(
  { action, local, stored }: PlannedDocument,
  { body }: Extract<Answer, { kind: "ok" }>,
): Promise<string | undefined> {
  if (action === "delete" || !local) return undefined;
  if (typeof body["hash"] === "string") return body["hash"];
  return hashOf(stored.kind === "write_only" ? local.shown : withoutSecrets(local));
}

function describe(answer: Answer): Omit<AppliedDocument, "key"> {
  if (answer.kind === "ok") {
    const warnings = readFields(answer.body["warnings"]);
    return { outcome: "applied", ...(warnings.length > 0 && { warnings }) };
  }
  if (answer.kind === "no_answer") return { outcome: "no_answer", reason: answer.reason };
  const outcome = answer.refusal.status === 412 ? "conflict" : "refused";
  const { refusal } = answer;
  return { outcome, reason: formatRefusal(refusal), fields: refusal.fields };
}
