import type { UsedNames } from "../../capabilities/used-names.ts";
import type { TenantId } from "../../protocol/identity/ids.ts";
import { personOf } from "../../protocol/identity/principal.ts";
import { toHex } from "../../protocol/text/hex.ts";
import { lazily } from "../../protocol/text/lazily.ts";
import { importHmacKey, signText } from "./hmac-fingerprints.ts";

/** Reads which hashes a person used before. Fails: throws when the records do not answer. */
export type ReadUsedNames = (
  tenantId: TenantId,
  person: string,
  hashes: readonly string[],
) => Promise<readonly string[]>;

/**
 * Makes the hashes with HMAC-SHA-256 over tenant, person and name, under a key that is derived from
 * the root secret; 128 bits of each. After a rotation of the secret every name is new once more.
 */
export function createUsedNames(rootSecret: string, read: ReadUsedNames): UsedNames {
  const key = lazily(() => importHmacKey(rootSecret, "used-name"));
  const hash: UsedNames["hash"] = async ({ tenantId, ...actors }, names) => {
    const signed = names.map(async (name) =>
      signText(await key(), JSON.stringify([tenantId, personOf(actors), name])),
    );
    return (await Promise.all(signed)).map((bytes) => toHex(bytes.slice(0, 16)));
  };
  return {
    hash,
    async known(owner, names) {
      if (names.length === 0) return new Set();
      try {
        const hashes = await hash(owner, names);
        const used = new Set(await read(owner.tenantId, personOf(owner), hashes));
        return new Set(names.filter((_, at) => used.has(hashes[at] ?? "")));
      } catch {
        return new Set();
      }
    },
  };
}
