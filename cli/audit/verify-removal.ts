import { removalText, type SignedRemoval } from "../../src/protocol/audit/removed.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";

const FIELDS = "count,firstSeq,key,lastAt,lastHash,lastSeq,signature";

/**
 * Checks the summary of removed records: its fields, its numbers and its signature.
 * Contract: tells what does not hold; undefined for a sound summary. Never throws for what an
 * export may contain.
 */
export async function findRemovalFault(
  removed: JsonObject,
  key: string | undefined,
): Promise<string | undefined> {
  if (Object.keys(removed).sort().join(",") !== FIELDS) {
    return "it has not the fields of a summary of removed records";
  }
  const summary = removed as unknown as SignedRemoval;
  const { count, firstSeq, lastSeq } = summary;
  const isWhole = Number.isSafeInteger(lastSeq) && lastSeq >= 1;
  if (firstSeq !== 1 || count !== lastSeq || !isWhole) return "its numbers do not fit together";
  if (key !== undefined && key !== summary.key) return "it is signed by another key than --key";
  return (await isSigned(summary)) ? undefined : "its signature is forged";
}

async function isSigned(summary: SignedRemoval): Promise<boolean> {
  try {
    const key = Buffer.from(summary.key, "base64url");
    const publicKey = await crypto.subtle.importKey("raw", key, "Ed25519", false, ["verify"]);
    const signature = Buffer.from(summary.signature, "base64url");
    const text = new TextEncoder().encode(removalText(summary));
    return await crypto.subtle.verify("Ed25519", publicKey, signature, text);
  } catch {
    // A key or a signature of another form.
    return false;
  }
}
