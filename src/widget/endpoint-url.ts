/** The base that `v1/…` is resolved against. */
export function endpointUrl(endpoint: string | null): string {
  const url = new URL(endpoint || "/", location.href);
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return url.href;
}
