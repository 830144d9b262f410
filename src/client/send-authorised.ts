/** Where a server is, and how its caller proves who they are. */
export interface ApiOptions {
  readonly fetch: typeof fetch;
  /** Absolute address that `v1/…` is relative to. It ends in a slash. */
  readonly baseUrl: string;
  /** Called before each request, and once more when the server rejected the token. */
  readonly token: () => Promise<string | undefined>;
}

/**
 * Sends a request with the caller's token. After a 401 it asks for a token once more, and repeats
 * the request when that token is another one.
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
