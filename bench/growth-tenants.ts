import { createHash } from "node:crypto";
import type { Contender } from "./contenders/start.ts";
import type { Figure } from "./measure.ts";

/** Tenants of the measure of growth. */
export const TENANTS = ["fresh", "full"] as const;
export type Tenant = (typeof TENANTS)[number];

const SCOPES = ["chat", "runs:read", "runs:read_all", "audit:read", "policy:write"];
const tokenOf = (tenant: Tenant): string => `bench-token-of-${tenant}`;

/** Makes the static token of a tenant. */
export function callerOf(tenant: Tenant): object {
  const sha256 = createHash("sha256").update(tokenOf(tenant)).digest("hex");
  return { sha256, tenantId: tenant, actorId: "service:bench", scopes: SCOPES };
}

/** Sends a request to the API of a tenant. */
export function ask(
  { port }: Contender,
  tenant: Tenant,
  { path, body }: { readonly path: string; readonly body?: object },
): Promise<Response> {
  const headers = {
    authorization: `Bearer ${tokenOf(tenant)}`,
    "content-type": "application/json",
    ...(path === "/v1/policy" && { "if-none-match": "*" }),
  };
  const method = path === "/v1/policy" ? "PUT" : body ? "POST" : "GET";
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  return fetch(`http://127.0.0.1:${port}${path}`, init);
}

/** Stores the policy of a tenant. */
export async function govern(worker: Contender, tenant: Tenant): Promise<void> {
  const policy = { allowedTools: ["core__get_current_time"], budgets: { maxSteps: 50 } };
  const answer = await ask(worker, tenant, { path: "/v1/policy", body: policy });
  if (answer.status !== 200) throw new Error(await answer.text());
}

/** Makes a figure of Interlock alone, with what it is compared with. */
export function figure(name: string, { unit, value, to }: GrowthFigure): Figure {
  const ratio = to && { to: to[0], value: to[1] };
  return { name: `growth: ${name}`, unit, raw: { interlock: value }, ...(ratio && { ratio }) };
}

interface GrowthFigure {
  readonly unit: string;
  readonly value: number;
  /** Name and value of the ratio. */
  readonly to?: readonly [string, number];
}
