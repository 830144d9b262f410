import type { JsonObject } from "../protocol/json/value.ts";

/** Returns the access token of the embedding page, or undefined when the page has none. */
export type TokenSource = () => string | undefined | Promise<string | undefined>;

export interface ApiOptions {
  readonly fetch: typeof fetch;
  /** Absolute address that `v1/…` is relative to. It ends in a slash. */
  readonly baseUrl: string;
  /** Called before each request, and once more when the server rejected the token. */
  readonly token: () => Promise<string | undefined>;
}

/** Text for the reader when a request got no response. */
export const UNREACHABLE = "The server could not be reached. Check your connection and try again.";

/**
 * Sends a request with the page's token. After a 401 it asks the page for a token once more, and
 * repeats the request when that token is another one.
 * Fails: throws as `fetch`.
 */
export async function sendAuthorised(
  options: ApiOptions,
  path: string,
  init: RequestInit,
): Promise<Response> {
  const token = await options.token();
  const response = await send(options, path, { ...init, token });
  if (response.status !== 401) return response;
  // The token may have expired on its way. The same token would be rejected again.
  const renewed = await options.token();
  return renewed === token ? response : send(options, path, { ...init, token: renewed });
}

function send(
  { fetch, baseUrl }: ApiOptions,
  path: string,
  { token, ...init }: RequestInit & { readonly token: string | undefined },
): Promise<Response> {
  const headers = new Headers(init.headers);
  if (token) headers.set("authorization", `Bearer ${token}`);
  return fetch(new URL(path, baseUrl), { ...init, headers, cache: "no-store" });
}

/** Builds a POST request with a JSON body. */
export function postJson(body: unknown, headers: Readonly<Record<string, string>> = {}) {
  return {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

const MAX_PROBLEM_CHARS = 500;

/** Returns the reader's text of an `application/problem+json` body, or names the status. */
export function readProblemText({ detail, title }: JsonObject, status: number): string {
  const text = [detail, title].find((part) => typeof part === "string" && part !== "");
  const fallback = `The server answered with status ${status}. Try again later.`;
  return typeof text === "string" ? text.slice(0, MAX_PROBLEM_CHARS) : fallback;
}
