import {
  createDurableTenantGateway,
  type TenantGateway,
} from "../adapters/durable-tenant-gateway.ts";
import {
  createDurableTenantRecords,
  type TenantRecordsGateway,
} from "../adapters/durable-tenant-records.ts";
import { createKvPolicyPublisher } from "../adapters/kv-policy-publisher.ts";
import { systemClock } from "../adapters/system-clock.ts";
import type { Clock } from "../capabilities/system.ts";
import type { PolicyPublisher } from "../capabilities/policy.ts";
import type { RawEnv } from "../env.ts";
import { checkedEnv } from "./checked-env.ts";

/** Assembles the way to the tenants' objects. */
export function composeTenants(tenants: DurableObjectNamespace): TenantGateway {
  return createDurableTenantGateway(tenants);
}

/** Assembles the way to what the tenants' objects know of runs, approvals and audit. */
export function composeTenantRecords(tenants: DurableObjectNamespace): TenantRecordsGateway {
  return createDurableTenantRecords(tenants);
}

/** What a tenant's object stands on. */
export interface TenantPorts {
  readonly clock: Clock;
  readonly publisher: PolicyPublisher;
  /** How long it knows of what has ended. Unit: milliseconds. */
  readonly keptMs: number;
}

/**
 * Assembles a tenant's object from the raw bindings.
 * Fails: throws on bindings that the Worker would have refused before it came here.
 */
export function composeTenant(raw: RawEnv): TenantPorts {
  const { policyKv, lifetimes } = checkedEnv(raw);
  return {
    clock: systemClock,
    publisher: createKvPolicyPublisher(policyKv),
    keptMs: Math.max(lifetimes.runMs, lifetimes.keyMs),
  };
}
