import type { ResultShelf, ResultStore } from "../../capabilities/results.ts";
import type { RunId, TenantId } from "../../protocol/identity/ids.ts";
import { MAX_KEPT_BYTES, type KeptResult } from "../../protocol/outcome/kept-result.ts";
import { parseSealedValue } from "../../protocol/connection/sealed-value.ts";
import { utf8Bytes } from "../../protocol/text/encoding.ts";
import type { KeyRing } from "../keys/key-ring.ts";

interface SealedResultPorts {
  readonly keyRing: KeyRing;
  readonly store: ResultStore;
  readonly tenantId: TenantId;
  readonly runId: RunId;
}

/**
 * Keeps results sealed under the keys of connections, each for exactly its tenant, run and call.
 * Threat: a reader of the object's storage, and a raw output that nobody has redacted.
 */
export function createSealedResults({
  keyRing,
  store,
  tenantId,
  runId,
}: SealedResultPorts): ResultShelf {
  const subjectOf = (invocation: number): readonly string[] => [
    "result",
    tenantId,
    runId,
    `${invocation}`,
  ];
  return {
    async keep(invocation, result) {
      try {
        const text = JSON.stringify(result);
        if (utf8Bytes(text) > MAX_KEPT_BYTES) return;
        store.put(invocation, JSON.stringify(await keyRing.seal(text, subjectOf(invocation))));
      } catch {
        // An output that JSON cannot hold; its failure says so.
      }
    },
    async read(invocation) {
      const sealed = parseSealedValue(store.get(invocation) ?? "");
      const text = sealed && (await keyRing.open(sealed, subjectOf(invocation)));
      return text === undefined ? undefined : (JSON.parse(text) as KeptResult);
    },
  };
}
