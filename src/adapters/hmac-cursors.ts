import type { Cursors, CursorScope } from "../capabilities/cursors.ts";
import { sameBytes } from "./same-bytes.ts";

/** `<place in base64url>.<mac>`: 128 bits of HMAC-SHA-256 over scope and place. */
const FORM = /^([A-Za-z0-9_-]{1,512})\.([A-Za-z0-9_-]{22})$/;
const MAC_BYTES = 16;
/** Keeps these MACs apart from all others under the secret. */
const LABEL = "cursor";

/** Makes cursors that only who knows the secret can make. */
export function createHmacCursors(secret: string): Cursors {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = crypto.subtle.importKey("raw", utf8(secret), algorithm, false, ["sign"]);
  const macOf = async (place: string, scope: CursorScope): Promise<Uint8Array> => {
    const text = JSON.stringify([LABEL, place, ...scope]);
    const signature = await crypto.subtle.sign("HMAC", await key, utf8(text));
    return new Uint8Array(signature).slice(0, MAC_BYTES);
  };
  return {
    async issue(place, scope) {
      const [said, mac] = [toBase64url(utf8(place)), await macOf(place, scope)];
      return `${said}.${toBase64url(mac)}`;
    },
    async read(cursor, scope) {
      const [, said = "", mac = ""] = FORM.exec(cursor) ?? [];
      const place = fromBase64url(said);
      if (place === undefined) return undefined;
      // Compared as it was written, so that no other spelling of the same bits passes.
      const expected = `${toBase64url(utf8(place))}.${toBase64url(await macOf(place, scope))}`;
      return sameBytes(utf8(`${said}.${mac}`), utf8(expected)) ? place : undefined;
    },
  };
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new TextEncoder().encode(text));
}

function toBase64url(bytes: Uint8Array): string {
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Undefined for what is no text. */
function fromBase64url(text: string): string | undefined {
  try {
    const base64 = text.replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return bytes.length > 0 ? decoder.decode(bytes) : undefined;
  } catch {
    return undefined;
  }
}
