import { createHash } from "node:crypto";

/** Equals `hashText`, but answers at once, so that a change with a hash is one transaction. */
export function hashNow(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}
