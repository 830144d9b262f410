/** Whichever scheme an address has, it shows such a host as it is. */
const SCHEMES = ["https:", "http:"];

/**
 * Tells whether text is a host, or a host and a port, exactly as a parsed address shows it: small
 * letters, other scripts in their ASCII form, IP addresses in their one spelling, no port that a scheme
 * has anyway, no dot at the end.
 * Contract: pure.
 */
export function isEgressHost(text: string): boolean {
  if (!/^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:]+\])(?::\d+)?$/.test(text)) return false;
  return SCHEMES.every((scheme) => URL.parse(`${scheme}//${text}/`)?.host === text);
}

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);

/**
 * Reads an address that may be reached; undefined for every other.
 * Threat: the address may be a model's, or a stranger's. It is compared once parsed, and only the
 * parsed form goes on, so that nobody after this reads it in another way.
 * Contract: pure.
 */
export function parseEgressUrl(text: string, hosts: readonly string[]): URL | undefined {
  const url = URL.parse(text);
  if (!url || !hosts.includes(url.host)) return undefined;
  const isSafe =
    url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.has(url.hostname));
  return isSafe && url.username === "" && url.password === "" ? url : undefined;
}
