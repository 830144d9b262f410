import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from "jose";

/** Address of the fake issuers. */
export const IDENTITY = "https://identity.test";

/** State of the issuer at one path. */
interface Served {
  readonly status: number;
  readonly body: string;
  asked: number;
}

const served = new Map<string, Served>();

/**
 * Answers for every issuer of a test. Undefined for other hosts. `PUT` sets the answer of `GET`;
 * `HEAD` returns the number of requests. Runs beside the Worker, where tests reach it only by HTTP.
 */
export function answerAsIssuer(request: Request): Response | Promise<Response> | undefined {
  const { origin, pathname } = new URL(request.url);
  if (origin !== IDENTITY) return undefined;
  const known = served.get(pathname);
  if (request.method === "PUT") return serve(pathname, request);
  if (request.method === "HEAD") {
    return new Response(null, { headers: { "x-asked": `${known?.asked ?? 0}` } });
  }
  if (!known) return new Response(null, { status: 404 });
  known.asked++;
  return new Response(known.body, { status: known.status });
}

async function serve(path: string, request: Request): Promise<Response> {
  const status = Number(request.headers.get("x-status") ?? 200);
  const body = await request.text();
  served.set(path, { status, body, asked: served.get(path)?.asked ?? 0 });
  return new Response(null, { status: 204 });
}

/** One issuer of a test, with its own keys. */
export interface Issuer {
  readonly jwksUrl: string;
  /** Public half of its first key, as in the JWKS. */
  readonly publicJwk: object;
  sign(claims: JWTPayload, header?: Record<string, unknown>): Promise<string>;
  /** Makes a key, serves it beside or instead of the others, and signs with it from then on. */
  rotate(kid: string, options?: { readonly isServed?: boolean }): Promise<void>;
  /** Answers with this status until the next change. */
  fail(status: number): Promise<void>;
  asked(): Promise<number>;
}

/** Creates an issuer. */
export async function foundIssuer(name: string, algorithm = "RS256"): Promise<Issuer> {
  const jwksUrl = `${IDENTITY}/${name}-${crypto.randomUUID()}/jwks`;
  const keys: object[] = [];
  let current: { readonly kid: string; readonly privateKey: CryptoKey };
  const put = (status: number): Promise<unknown> =>
    fetch(jwksUrl, {
      method: "PUT",
      headers: { "x-status": `${status}` },
      body: JSON.stringify({ keys }),
    });
  const rotate: Issuer["rotate"] = async (kid, { isServed = true } = {}) => {
    const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
    current = { kid, privateKey };
    keys.push({ ...(await exportJWK(publicKey)), kid, alg: algorithm, use: "sig" });
    if (isServed) await put(200);
  };
  await rotate("first");
  return {
    jwksUrl,
    publicJwk: keys[0] ?? {},
    rotate,
    sign: (claims, header = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: algorithm, kid: current.kid, ...header })
        .sign(current.privateKey),
    fail: async (status) => void (await put(status)),
    asked: async () => Number((await fetch(jwksUrl, { method: "HEAD" })).headers.get("x-asked")),
  };
}
