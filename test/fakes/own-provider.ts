import { answerAsProvider } from "./scripted-model.ts";
import { ELSEWHERE } from "./shop.ts";

/** Host of the providers that tenants bring. */
export const OWN_HOST = "https://own.test";

/** One request that a tenant's provider received. */
export interface OwnVisit {
  readonly path: string;
  readonly keys: readonly (string | null)[];
  readonly model: string;
}

/** Visits under `/apart`, for one test file, and all others. */
const apart: OwnVisit[] = [];
const visits: OwnVisit[] = [];

/** How the refusal under `/refuse…` repeats the key, by the rest of that name. */
export const REFUSALS: Readonly<Record<string, (key: string) => string>> = {
  "": String,
  "-percent": encodeURIComponent,
  "-base64": btoa,
  "-base64url": (key) => btoa(`user:${key}`).replaceAll("+", "-").replaceAll("/", "_"),
};

/**
 * Plays the providers of tenants. Undefined for other hosts. An address under `/moved` redirects to
 * a host that nobody allowed, one under `/refuse` refuses with the key in its text. One under
 * `/echo` plays the scripted model; `@A@` and `@B@` in its answer become the two halves of the key,
 * `@C@` and `@D@` those of the key behind a user name in base64.
 * Every other address plays the scripted model. `GET /visits` returns the received requests and
 * clears them; `GET /apart/visits` those under `/apart`.
 */
export async function answerAsOwnProvider(request: Request): Promise<Response | undefined> {
  const { origin, pathname: path } = new URL(request.url);
  if (origin !== OWN_HOST) return undefined;
  const seen = path.startsWith("/apart/") ? apart : visits;
  if (path.endsWith("/visits")) return Response.json(seen.splice(0));
  const { headers } = request;
  const keys = [headers.get("authorization"), headers.get("x-api-key")];
  const { model } = await request.clone().json<{ model: string }>();
  seen.push({ path, keys, model });
  if (path.startsWith("/moved/")) return Response.redirect(`${ELSEWHERE}${path}`, 307);
  const key = keys.find((sent) => sent !== null)?.replace(/^Bearer /, "") ?? "";
  const [, form = ""] = /^\/refuse([^/]*)\//.exec(path) ?? [];
  const repeat = REFUSALS[form];
  if (repeat && path.startsWith("/refuse")) {
    return new Response(`The key ${repeat(key)} is wrong.`, { status: 401 });
  }
  const played = await answerAsProvider(request);
  if (!path.startsWith("/echo/")) return played;
  const half = Math.ceil(key.length / 2);
  const encoded = btoa(`user:${key}`);
  const body = (await played.text())
    .replaceAll("@A@", key.slice(0, half))
    .replaceAll("@B@", key.slice(half))
    .replaceAll("@C@", encoded.slice(0, half))
    .replaceAll("@D@", encoded.slice(half));
  return new Response(body, { headers: played.headers });
}
