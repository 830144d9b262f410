import type { Principal } from "../../protocol/identity/principal.ts";
import { problem } from "./problem.ts";
import type { Services } from "../services.ts";

/** The period of both limits in wrangler.toml. The binding does not say how much of it is left. */
const PERIOD_SECONDS = 60;

/** Counts a request of a known caller. Answers the refusal, or undefined within the limit. */
export async function limitCaller(
  { tenantId, actorId }: Principal,
  { limits }: Services,
): Promise<Response | undefined> {
  return (await limits.callers.admit(`${tenantId}/${actorId}`)) ? undefined : tooMany();
}

/**
 * Counts a request without a valid token against its IP address. Answers the refusal, or undefined
 * within the limit.
 * Limit: without an address from the platform, as in local development, nothing is counted.
 */
export async function limitAddress(
  request: Request,
  { limits }: Services,
): Promise<Response | undefined> {
  const address = request.headers.get("cf-connecting-ip");
  if (address === null) return undefined;
  return (await limits.addresses.admit(networkOf(address))) ? undefined : tooMany();
}

function tooMany(): Response {
  return problem("rate_limited", { headers: { "retry-after": `${PERIOD_SECONDS}` } });
}

/** An IPv6 subscriber has 2^64 addresses, so all addresses of a /64 network count as one. */
function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.toLowerCase().split("::");
  const left = groupsOf(head);
  const right = groupsOf(tail ?? "");
  const gap = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array.from({ length: gap }, () => "0"), ...right];
  return `${groups.slice(0, 4).join(":")}::/64`;
}

function groupsOf(text: string): readonly string[] {
  return text.split(":").flatMap((group) => group.replace(/^0+(?=.)/, "") || []);
}
