/** A token without a known end is used so long. Unit: milliseconds. */
const USED_FOR_MS = 30_000;
/** A token is renewed before its end, because a request takes time. Unit: milliseconds. */
const RENEWED_BEFORE_MS = 30_000;

/**
 * Creates the function that gets the reader's token from the page's own server, which knows them by
 * their cookie. `address` answers a POST with `{"token": "…", "expiresAt": "…"}`, as
 * `POST /v1/embed-tokens` does. Undefined where it answers anything else.
 */
export function createTokenSource(address: string): () => Promise<string | undefined> {
  let known: { readonly token: string; readonly untilMs: number } | undefined;
  let asking: Promise<string | undefined> | undefined;

  async function ask(): Promise<string | undefined> {
    const response = await fetch(address, { method: "POST" });
    const body: unknown = response.ok ? await response.json() : undefined;
    const { token, expiresAt } = (body ?? {}) as Record<string, unknown>;
    if (typeof token !== "string") return undefined;
    const endMs = typeof expiresAt === "string" ? Date.parse(expiresAt) : Number.NaN;
    const isKnown = Number.isFinite(endMs);
    known = { token, untilMs: isKnown ? endMs - RENEWED_BEFORE_MS : Date.now() + USED_FOR_MS };
    return token;
  }

  return () => {
    if (known && Date.now() < known.untilMs) return Promise.resolve(known.token);
    asking ??= ask()
      .catch(() => undefined)
      .finally(() => (asking = undefined));
    return asking;
  };
}
