import { isLoopback } from "./egress-host.ts";
import { isPublicHttps } from "./public-address.ts";

/** Which addresses a service may have. */
export interface AddressRules {
  /** Allows servers on this machine, also without TLS. Only `npm run dev` does so. */
  readonly allowsLoopback: boolean;
}

/**
 * Reads the base address of an upstream or of a tenant's provider, without a slash at its end;
 * undefined for an address that is not a public https address.
 * Threat: somebody sends the Worker to a server of its own network. So the host must be a DNS name
 * with a public form; an IP address in any notation is refused. The check uses the parsed address,
 * and only the parsed address is passed on.
 * Contract: pure.
 */
export function parseServiceAddress(text: string, rules: AddressRules): string | undefined {
  const url = URL.parse(text);
  if (!url || url.username !== "" || url.password !== "") return undefined;
  if (/[?#]/.test(url.href)) return undefined;
  const isAllowed =
    isPublicHttps(url) ||
    (rules.allowsLoopback && isLoopback(url) && /^https?:$/.test(url.protocol));
  return isAllowed ? url.href.replace(/\/+$/, "") : undefined;
}
