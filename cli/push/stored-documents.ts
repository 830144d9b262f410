import { hashOf } from "../../src/protocol/json/canonical-hash.ts";
import { isJsonArray, isJsonObject, type JsonObject } from "../../src/protocol/json/value.ts";
import { toVisible } from "../../src/protocol/text/visible.ts";
import { CommandError } from "../command.ts";
import type { Answer, Refusal, Send } from "./deployment-client.ts";
import { type DocumentKey, type Kind, kindOf, normalise } from "./local-documents.ts";

/** What a deployment stores under a key. */
export type StoredDocument =
  | { readonly kind: "absent" }
  /** No route returns a connection. */
  | { readonly kind: "write_only" }
  | {
      readonly kind: "stored";
      /** With every default; without secrets. */
      readonly shown: JsonObject;
      /** Of the content, `sha256:...`. */
      readonly hash: string;
      /** Absent where the deployment has no compare-and-swap: providers. */
      readonly etag?: string;
    };

const HASH = /^sha256:[0-9a-f]{64}$/;

/** Reads what is stored under a key. Fails: throws a CommandError with the deployment's words. */
export async function readStored(send: Send, key: DocumentKey): Promise<StoredDocument> {
  const kind = kindOf(key);
  if (!kind) throw new CommandError(`${toVisible(key).text} is no key of a document.`);
  if (kind === "connections") return { kind: "write_only" };
  const answer = await send({ method: "GET", path: `/v1/${key}` });
  if (isMissing(answer)) return { kind: "absent" };
  const { body, etag } = expectBody(answer, key);
  if (kind === "providers") {
    const { id: _id, status, ...terms } = body;
    if (status !== "ready") throw new CommandError(`${key}: the stored provider cannot be opened.`);
    const shown = normalise(kind, terms);
    return { kind: "stored", shown, hash: await hashOf(shown) };
  }
  // The deployment's own assistant, which it declares in code, has no revision.
  if (etag === undefined) return { kind: "absent" };
  const document = body[kind === "policy" ? "policy" : "assistant"];
  const { hash } = body;
  if (!isJsonObject(document) || typeof hash !== "string" || !HASH.test(hash)) {
    throw new CommandError(`${key}: the answer is not one that this version understands.`);
  }
  return { kind: "stored", shown: normalise(kind, document), hash, etag };
}

/** Lists the keys of the stored assistants or providers. Fails: as `readStored`. */
export async function listStored(
  send: Send,
  kind: Extract<Kind, "assistants" | "providers">,
): Promise<readonly DocumentKey[]> {
  const { body } = expectBody(await send({ method: "GET", path: `/v1/${kind}` }), kind);
  const entries = [body[kind]].filter(isJsonArray).flat().filter(isJsonObject);
  return entries.map(({ id }) => {
    const key = `${kind}/${typeof id === "string" ? id : ""}`;
    if (kindOf(key)) return key;
    throw new CommandError(`The deployment lists ${toVisible(key).text}, which is no key.`);
  });
}

/** Says why a request was refused, in one line. */
export function formatRefusal({ status, code, message }: Refusal): string {
  return `${status} ${code}: ${message}`;
}

function isMissing(answer: Answer): boolean {
  if (answer.kind !== "refused") return false;
  return ["policy_missing", "assistant_not_found", "provider_not_found"].includes(
    answer.refusal.code,
  );
}

function expectBody(answer: Answer, what: string): Extract<Answer, { kind: "ok" }> {
  if (answer.kind === "ok") return answer;
  const reason =
    answer.kind === "refused" ? formatRefusal(answer.refusal) : `no answer: ${answer.reason}`;
  throw new CommandError(`${what} could not be read. Nothing was changed. ${reason}`);
}
