import type { Principal } from "../protocol/principal.ts";
import { problem } from "./problem.ts";
import type { Services } from "./services.ts";

/** The period of both limits in wrangler.toml; the binding does not tell how much of it is left. */
const PERIOD_SECONDS = 60;

/** Counts a request of a known caller; answers the refusal when there were too many. */
export async function countCaller(
  { tenantId, actorId }: Principal,
  { limits }: Services,
): Promise<Response | undefined> {
  return (await limits.callers.admit(`${tenantId}/${actorId}`)) ? undefined : tooMany();
}

/**
 * Counts a request of nobody we know against the address that it came from.
 * Limit: where the platform names no address, as on a developer's machine, nothing is counted.
 */
export async function countStranger(
  request: Request,
  { limits }: Services,
): Promise<Response | undefined> {
  const address = request.headers.get("cf-connecting-ip");
  return address === null || (await limits.addresses.admit(address)) ? undefined : tooMany();
}

function tooMany(): Response {
  return problem("rate_limited", { headers: { "retry-after": `${PERIOD_SECONDS}` } });
}
