import { createFingerprints } from "../adapters/keys/hmac-fingerprints.ts";
import { createKeyRing } from "../adapters/keys/key-ring.ts";
import { createKvPolicyStore } from "../adapters/policy/kv-policy-store.ts";
import { createKvRunRecords } from "../adapters/run/kv-run-records.ts";
import type { PolicyCache } from "../adapters/policy/policy-cache.ts";
import { createSealedConnections } from "../adapters/secrets/sealed-connections.ts";
import { createSealedProviders } from "../adapters/secrets/sealed-providers.ts";
import { randomBytes, systemClock } from "../adapters/platform/system.ts";
import type {
  ConnectionBroker,
  ConnectionStore,
  WebhookBroker,
} from "../capabilities/connection.ts";
import type { PolicyStore } from "../capabilities/policy.ts";
import type { ProviderBroker, ProviderStore } from "../capabilities/provider.ts";
import type { RunRecords } from "../capabilities/run-records.ts";
import type { Env } from "../env.ts";
import type { AddressRules } from "../protocol/connection/service-address.ts";

/** Assembles the policy store of this isolate. */
export function composePolicies(kv: KVNamespace, cache: PolicyCache): PolicyStore {
  return createKvPolicyStore({ kv, clock: systemClock, cache });
}

/** Assembles the stored connections: `store` writes them, `broker` opens them. */
export function composeConnections(
  env: Pick<Env, "connectionsKv" | "connectionKeys" | "development">,
): {
  readonly store: ConnectionStore;
  readonly broker: ConnectionBroker & WebhookBroker;
} {
  const connections = createSealedConnections({
    kv: env.connectionsKv,
    keyRing: createKeyRing(env.connectionKeys, randomBytes),
    addressRules: addressRulesOf(env),
  });
  return { store: connections, broker: connections };
}

/** Which addresses the providers and webhooks of tenants may have. */
export function addressRulesOf({ development }: Pick<Env, "development">): AddressRules {
  return { allowsLoopback: development !== undefined };
}

/** Assembles the providers of tenants: `store` writes and shows them, `broker` opens their keys. */
export function composeProviders(
  env: Pick<Env, "connectionsKv" | "connectionKeys" | "development">,
): { readonly store: ProviderStore; readonly broker: ProviderBroker } {
  const providers = createSealedProviders({
    kv: env.connectionsKv,
    keyRing: createKeyRing(env.connectionKeys, randomBytes),
    addressRules: addressRulesOf(env),
  });
  return { store: providers, broker: providers };
}

/** Assembles the store of published terminal records. */
export function composeRunRecords(env: Env): RunRecords {
  const { idempotencyKv, lifetimes, rootSecret, olderSecret } = env;
  return createKvRunRecords(idempotencyKv, createFingerprints(rootSecret, olderSecret), {
    runSeconds: Math.ceil(lifetimes.runMs / 1_000),
    keySeconds: Math.ceil(lifetimes.keyMs / 1_000),
  });
}
