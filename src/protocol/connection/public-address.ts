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
