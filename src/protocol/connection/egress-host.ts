/** A valid host reads the same under both schemes. */
const SCHEMES = ["https:", "http:"];

/**
 * Tells whether a text is a host, or a host and a port, exactly as a parsed address shows it: lower
 * case, other scripts in ASCII form, IP addresses in normal form, no default port, no final dot.
 * Contract: pure.
 */
export function isEgressHost(text: string): boolean {
  if (!/^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:]+\])(?::\d+)?$/.test(text)) return false;
  return SCHEMES.every((scheme) => URL.parse(`${scheme}//${text}/`)?.host === text);
}

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);

/**
 * Reads an address of an allowed host; undefined for every other address.
 * Threat: a model or an attacker may choose the address. The check uses the parsed address, and
 * only the parsed address is passed on, so that no later code parses the text differently.
 * Contract: pure.
 */
export function parseEgressUrl(text: string, hosts: readonly string[]): URL | undefined {
  const url = URL.parse(text);
  if (!url || !hosts.includes(url.host)) return undefined;
  const isSafe = url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url));
  return isSafe && url.username === "" && url.password === "" ? url : undefined;
}

/** Tells whether an address leads to this machine. */
export function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK.has(hostname);
}
