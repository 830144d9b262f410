import * as v from "valibot";
import { recordOf } from "../json/record.ts";
import { scopeOrRole } from "./api-token.ts";
import { fail, ok, type Result } from "../outcome/result.ts";

/** Algorithms whose public keys come from the issuer. */
const PUBLIC_KEY_ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"] as const;
/** A secret must be as long as the hash; a shorter one could be guessed (RFC 7518, 3.2). */
const MIN_SECRET_BYTES = 32;

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(512));
const seconds = (max: number) =>
  v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(max));

const settings = v.strictObject({
  issuer: text,
  audience: text,
  /** Pinned: the header of a token can only choose one of these. */
  algorithms: v.pipe(
    v.array(v.picklist(["HS256", ...PUBLIC_KEY_ALGORITHMS])),
    v.minLength(1),
    v.maxLength(8),
  ),
  jwksUrl: v.optional(
    v.pipe(
      text,
      v.check((url) => isSafeAddress(url), "https, or http with a loopback host"),
    ),
  ),
  tenantClaim: v.optional(text, "tenant"),
  subjectClaim: v.optional(text, "sub"),
  rolesClaim: v.optional(text, "roles"),
  /** Absent: `scope` and `scp`. */
  scopesClaim: v.optional(text),
  groupsClaim: v.optional(text, "groups"),
  /** What the members of a group of the issuer are and may do here. Absent: nobody reads groups. */
  groups: v.optional(
    recordOf(
      v.pipe(v.string(), v.minLength(1), v.maxLength(256)),
      v.strictObject({
        roles: v.optional(v.array(scopeOrRole), []),
        scopes: v.optional(v.array(scopeOrRole), []),
      }),
    ),
  ),
  clockToleranceSeconds: v.optional(seconds(300), 5),
  maxAgeSeconds: v.optional(seconds(31_536_000)),
});

/** What verifies tokens: a shared secret, or the public keys that the issuer serves. */
export type JwtKeys =
  | { readonly kind: "secret"; readonly secret: Uint8Array }
  | { readonly kind: "jwks"; readonly url: string };

/** Whose tokens are accepted, and which of their claims are read. */
export interface JwtSettings extends Omit<v.InferOutput<typeof settings>, "jwksUrl"> {
  readonly keys: JwtKeys;
}

/**
 * Reads the variables `AUTH` and `JWT_SECRET`.
 * Contract: pure; the failure names the mistake, never a value.
 */
export function readJwtSettings(auth: unknown, secret: unknown): Result<JwtSettings, string> {
  const parsed = v.safeParse(settings, readJson(auth));
  if (!parsed.success) {
    const path = v.getDotPath(parsed.issues[0]);
    const place = path === null ? "" : ` at ${path}`;
    return fail(`AUTH is not valid${place}. Set it as docs/identity.md says`);
  }
  const { jwksUrl, ...rest } = parsed.output;
  const shared = rest.algorithms.filter((algorithm) => algorithm === "HS256").length;
  if (shared > 0 && shared < rest.algorithms.length) {
    return fail("AUTH mixes HS256 with public-key algorithms. Name one kind only");
  }
  if (shared > 0) {
    if (jwksUrl !== undefined)
      return fail("AUTH names HS256, which takes no jwksUrl. Remove the jwksUrl");
    const bytes = typeof secret === "string" ? new TextEncoder().encode(secret) : undefined;
    if (!bytes) return fail("JWT_SECRET is missing. HS256 in AUTH needs it");
    if (bytes.byteLength < MIN_SECRET_BYTES)
      return fail("JWT_SECRET is shorter than 32 bytes. Use a longer secret");
    return ok({ ...rest, keys: { kind: "secret", secret: bytes } });
  }
  if (jwksUrl === undefined) return fail("AUTH has no jwksUrl. Its algorithms need one");
  if (secret !== undefined)
    return fail("JWT_SECRET is set, but AUTH does not name HS256. Remove the secret");
  return ok({ ...rest, keys: { kind: "jwks", url: jwksUrl } });
}

function readJson(text: unknown): unknown {
  try {
    return typeof text === "string" ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Over plain HTTP anybody on the path could replace the keys. */
function isSafeAddress(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, username, password } = new URL(url);
  if (username !== "" || password !== "") return false;
  return (
    protocol === "https:" ||
    (protocol === "http:" && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname))
  );
}
