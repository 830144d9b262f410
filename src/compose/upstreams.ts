import { createHttpEgress } from "../adapters/egress/http-egress.ts";
import { sendRequest, systemClock } from "../adapters/platform/system.ts";
import type { Egress } from "../capabilities/http.ts";
import { readUpstreams, type RawEnv } from "../env.ts";
import { fail, type Result } from "../protocol/outcome/result.ts";
import type { Deployment } from "./deployment.ts";

type Bound = Pick<Deployment, "contracts" | "upstreams">;

/**
 * Reads the address of each upstream that the deployment binds, and checks that it binds each one
 * that a contract names.
 * Contract: pure. Fails: one sentence for each problem, for the operator; never an address.
 */
export function configureUpstreams(
  raw: RawEnv,
  { contracts, upstreams }: Bound,
): Result<ReadonlyMap<string, string>, readonly string[]> {
  const named = new Set(contracts.flatMap(({ contract }) => contract.security.upstreams));
  const unbound = [...named].filter((name) => !Object.hasOwn(upstreams, name));
  const read = readUpstreams(raw, upstreams);
  if (unbound.length === 0) return read;
  const problems = unbound.map((name) => `The upstream ${name} is not bound to a setting`);
  return fail([...problems, ...(read.ok ? [] : read.failure)]);
}

/** Assembles the egress of tools. Fails: throws on upstreams that the Worker refuses too. */
export function composeEgress(raw: RawEnv, bound: Bound): Egress {
  const addresses = configureUpstreams(raw, bound);
  if (!addresses.ok) throw new Error(`misconfigured: ${addresses.failure.join("; ")}`);
  return createHttpEgress({ clock: systemClock, fetch: sendRequest, addresses: addresses.value });
}
