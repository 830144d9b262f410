/** Where a request goes below the address of an upstream. */
export interface UpstreamTarget {
  /** Names between the slashes, not yet encoded. An empty list is the address itself. */
  readonly path: readonly (string | number)[];
  /** Parameters, not yet encoded. */
  readonly query?: { readonly [name: string]: string | number | boolean };
}

/**
 * Encoded names that a server may read as another path: none, dots, also before `;`, `?` or `#`, a
 * slash, a backslash, a control character; each also encoded more than once. Some servers decode a
 * path before they resolve it.
 */
const MOVES = /^\.{0,2}(?:%(?:25)*(?:3b|3f|23)|$)|%(?:25)*(?:2[ef]|5c|7f|[01])/i;

/**
 * Joins the base address of an upstream with a path and parameters. Undefined when a name of the
 * path could lead out of the base path or to another host.
 * Threat: a model or an attacker chooses names and values. Each name is encoded as one name, so it
 * never becomes a second name, a query, a user or a host.
 * Contract: pure. `base` has no slash at its end; see parseServiceAddress.
 */
export function joinUpstreamUrl(base: string, { path, query }: UpstreamTarget): URL | undefined {
  // An author who does not use TypeScript may pass one text, which would be spelt out.
  if (!Array.isArray(path)) return undefined;
  const names = path.map(String);
  if (!names.every((name) => name.isWellFormed())) return undefined;
  const encoded = names.map(encodeURIComponent);
  if (encoded.some((name) => MOVES.test(name))) return undefined;
  const url = URL.parse([base, ...encoded].join("/"));
  for (const [name, value] of Object.entries(query ?? {})) {
    url?.searchParams.append(name, String(value));
  }
  return url ?? undefined;
}
