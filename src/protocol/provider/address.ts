import { isLoopback } from "../connection/egress-host.ts";

/** Which addresses a tenant may name. */
export interface AddressRules {
  /** Allows servers on this machine, also without TLS. Only `npm run dev` does so. */
  readonly allowsLoopback: boolean;
}

/** Labels of a DNS name. The last one begins with a letter, so no IP address passes. */
const DNS_NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;
/** Names of local networks: RFC 6761, RFC 6762 (appendix G) and RFC 8375. */
const LOCAL_NAME =
  /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|private|corp|home|lan|home\.arpa)$/;

/**
 * Reads the base address of a tenant's provider, without a slash at its end; undefined for an
 * address that is not a public https address.
 * Threat: a tenant sends the Worker to a server of its own network. So the host must be a DNS name
 * with a public form; an IP address in any notation is refused. The check uses the parsed address,
 * and only the parsed address is passed on.
 * Limit: the platform resolves names, so the address behind a public name is not checked.
 * Contract: pure.
 */
export function parseProviderAddress(text: string, rules: AddressRules): string | undefined {
  const url = URL.parse(text);
  if (!url || url.username !== "" || url.password !== "") return undefined;
  if (/[?#]/.test(url.href)) return undefined;
  const isAllowed =
    isPublic(url) || (rules.allowsLoopback && isLoopback(url) && /^https?:$/.test(url.protocol));
  return isAllowed ? url.href.replace(/\/+$/, "") : undefined;
}

function isPublic({ protocol, hostname }: URL): boolean {
  return protocol === "https:" && DNS_NAME.test(hostname) && !LOCAL_NAME.test(hostname);
}
