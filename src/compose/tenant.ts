import {
  createDurableTenantGateway,
  type TenantGateway,
} from "../adapters/tenant/durable-tenant-gateway.ts";
import { createDurableAuditArchives } from "../adapters/tenant/durable-audit-archives.ts";
import { createKvPolicyPublisher } from "../adapters/policy/kv-policy-publisher.ts";
import { createAuditSigner } from "../adapters/keys/audit-signer.ts";
import { createHttpEgress } from "../adapters/egress/http-egress.ts";
import { createWebhookSender } from "../adapters/notification/webhook-sender.ts";
import { createDurableRunGateway } from "../adapters/run/durable-run-gateway.ts";
import { createPersonWorkspaces } from "../adapters/workspace/person-workspaces.ts";
import { sendRequest, systemClock } from "../adapters/platform/system.ts";
import type { AuditArchives, AuditSigner } from "../capabilities/audit.ts";
import type { PersonWorkspaces } from "../capabilities/people.ts";
import type { RunGateway } from "../capabilities/run.ts";
import type { Clock } from "../capabilities/system.ts";
import type { PolicyPublisher } from "../capabilities/policy.ts";
import type { NotificationSender } from "../capabilities/notification.ts";
import { requireEnv, WORKSPACES, type RawEnv } from "../env.ts";
import { composeConnections } from "./stores.ts";

/** Assembles the gateway to the objects of the tenants. */
export function composeTenants(tenants: DurableObjectNamespace): TenantGateway {
  return createDurableTenantGateway(tenants);
}

/** What a tenant's object needs. */
export interface TenantPorts {
  readonly clock: Clock;
  readonly publisher: PolicyPublisher;
  /** How long it keeps what has ended. Unit: milliseconds. */
  readonly keptMs: number;
  /** How long it lists a conversation after its last turn. Unit: milliseconds. */
  readonly conversationKeptMs: number;
  /** How long it keeps a record of the audit log. Unit: milliseconds. */
  readonly auditKeptMs: number;
  readonly auditSigner: AuditSigner;
  readonly archives: AuditArchives;
  /** Size at which a part of the audit log moves to an archive. Unit: bytes. */
  readonly segmentBytes: number;
  readonly runs: Pick<RunGateway, "of">;
  readonly personWorkspaces: PersonWorkspaces;
  readonly sender: NotificationSender;
}

/**
 * Assembles a tenant's object from the raw bindings.
 * Fails: throws on bindings that the Worker refuses too.
 */
export function composeTenant(raw: RawEnv): TenantPorts {
  const env = requireEnv(raw);
  const { policyKv, lifetimes, rootSecret, olderSecret, runs, tenants, segmentBytes } = env;
  return {
    clock: systemClock,
    publisher: createKvPolicyPublisher(policyKv),
    keptMs: Math.max(lifetimes.runMs, lifetimes.keyMs),
    conversationKeptMs: lifetimes.conversationMs,
    auditKeptMs: lifetimes.auditMs,
    auditSigner: createAuditSigner(rootSecret, olderSecret),
    archives: createDurableAuditArchives(tenants),
    segmentBytes,
    runs: createDurableRunGateway(runs),
    personWorkspaces: createPersonWorkspaces(raw[WORKSPACES]),
    sender: createWebhookSender({
      broker: composeConnections(env).broker,
      egress: createHttpEgress({
        fetch: sendRequest,
        clock: systemClock,
        addresses: new Map(),
      }),
      clock: systemClock,
    }),
  };
}
