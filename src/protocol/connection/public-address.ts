/** Labels of a DNS name. The last one begins with a letter, so no IP address passes. */
const DNS_NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;
/** Names of local networks: RFC 6761, RFC 6762 (appendix G) and RFC 8375. */
const LOCAL_NAME =
  /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|private|corp|home|lan|home\.arpa)$/;

/**
 * Tells whether an address is https with a public host name. An IP address in any notation is not.
 * Limit: names are not resolved, so the address behind a public name is not checked.
 * Contract: pure.
 */
export function isPublicHttps({ protocol, hostname }: URL): boolean {
  return protocol === "https:" && DNS_NAME.test(hostname) && !LOCAL_NAME.test(hostname);
}

/** Networks of IPv4 that no public service has: RFC 6890, RFC 5771 and what broadcasts. */
const LOCAL_IPV4: readonly (readonly [base: string, bits: number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];
/** Global unicast, 2000::/3. Without what carries an address of IPv4, and what documents show. */
const PUBLIC_IPV6 = /^[23][0-9a-f]{3}:/i;
const NARROWED_IPV6 = /^(?:2001:0{0,4}:|2001:0?db8:|2002:|3fff:)/i;

/** Tells whether an IP address is one that a public service has. Contract: pure. */
export function isPublicIp(text: string): boolean {
  if (text.includes(":")) return PUBLIC_IPV6.test(text) && !NARROWED_IPV6.test(text);
  const value = toNumber(text);
  if (value === undefined) return false;
  return !LOCAL_IPV4.some(([base, bits]) => {
    const size = 2 ** (32 - bits);
    return Math.floor(value / size) === Math.floor((toNumber(base) ?? 0) / size);
  });
}

function toNumber(text: string): number | undefined {
  if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text)) return undefined;
  const bytes = text.split(".").map(Number);
  return bytes.some((byte) => byte > 255)
    ? undefined
    : bytes.reduce((sum, byte) => sum * 256 + byte, 0);
}
