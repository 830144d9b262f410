import { createAuditSigner } from "../adapters/keys/audit-signer.ts";
import { createCachedAssistants } from "../adapters/tenant/cached-assistants.ts";
import { createBearerAuthenticator } from "../adapters/identity/bearer-authenticator.ts";
import { createRateLimiter } from "../adapters/platform/binding-rate-limiter.ts";
import { createStorageMeter } from "../adapters/tenant/cached-storage-meter.ts";
import { createConsoleLog } from "../adapters/platform/console-log.ts";
import { createDevelopmentAuthenticator } from "../adapters/identity/development-authenticator.ts";
import { createDurableRunGateway } from "../adapters/run/durable-run-gateway.ts";
import { createEmbedTokens } from "../adapters/identity/embed-tokens.ts";
import { createFingerprints } from "../adapters/keys/hmac-fingerprints.ts";
import { createPersonWorkspaces } from "../adapters/workspace/person-workspaces.ts";
import { createHmacRunIds } from "../adapters/run/hmac-run-ids.ts";
import { createJwtAuthenticator } from "../adapters/identity/jwt-authenticator.ts";
import { createKvOriginIndex } from "../adapters/policy/kv-origin-index.ts";
import { createSealedCursors } from "../adapters/keys/sealed-cursors.ts";
import { createStaticTokenAuthenticator } from "../adapters/identity/static-token-authenticator.ts";
import { randomBytes, sendRequest, systemClock } from "../adapters/platform/system.ts";
import type { KeepAlive } from "../capabilities/system.ts";
import { WORKSPACES, type RawEnv } from "../env.ts";
import { createApp } from "../http/app.ts";
import { routesOfClients } from "../http/clients/client.ts";
import type { Routes } from "../http/request/authorise.ts";
import { problem } from "../http/request/problem.ts";
import { secure } from "../http/request/secure-headers.ts";
import type { Services } from "../http/services.ts";
import { knownRoles } from "../protocol/identity/known-roles.ts";
import { connectionBody } from "../protocol/connection/stored.ts";
import { SCOPES } from "../protocol/identity/principal.ts";
import { tenantProviderBody } from "../protocol/provider/tenant-provider.ts";
import { configureDeployment, type Configuration } from "./configure.ts";
import type { Deployment } from "./deployment.ts";
import {
  addressRulesOf,
  composeConnections,
  composePolicies,
  composeProviders,
  composeRunRecords,
} from "./stores.ts";
import { composeTenants } from "./tenant.ts";

/** Assembles the Worker: turns raw bindings into one HTTP handler per isolate. */
export function composeWorker(
  raw: RawEnv,
  deployment: Deployment,
  keepAlive: KeepAlive,
): (request: Request) => Promise<Response> {
  const configured = configureDeployment(raw, deployment);
  if (!configured.ok) {
    return refuseAll(`${configured.failure.join("; ")}. See the README, section Deploy.`);
  }
  const app = createApp(
    {
      ...assemble(configured.value, deployment, keepAlive),
      membersChanged: deployment.workspaces?.membersChangedOf(raw),
      workspaces: {
        names: deployment.workspaces?.definitions.map(({ name }) => name) ?? [],
        people: createPersonWorkspaces(raw[WORKSPACES]),
      },
    },
    {
      ...routesOfClients(deployment.wires.clients),
      ...deployment.workspaces?.routesOf(raw),
      ...(deployment.metrics?.routes as Routes | undefined),
      ...deployment.replay?.routes,
    },
  );
  return async (request) => secure(await app.fetch(request), request);
}

/** Answers every request with the reason why the deployment cannot work. */
export function refuseAll(detail: string): (request: Request) => Promise<Response> {
  return () => Promise.resolve(secure(problem("not_configured", { detail })));
}

function assemble(
  { env, models, assistants }: Configuration,
  { source, context, wires, pages, policyCache, traces }: Deployment,
  keepAlive: KeepAlive,
): Omit<Services, "membersChanged" | "workspaces"> {
  const log = createConsoleLog();
  const tenants = composeTenants(env.tenants);
  const { registry, directory, conversations, queue, outcomes, escalations } = tenants;
  const { consents, notifications, trail, erasures, feedback, metrics } = tenants;
  const { spending, storageUse } = tenants;
  const embedTokens = createEmbedTokens({
    rootSecret: env.rootSecret,
    olderSecret: env.olderSecret,
    clock: systemClock,
    randomId: () => crypto.randomUUID(),
  });
  const tokens = createBearerAuthenticator({
    listed: createStaticTokenAuthenticator(env.apiTokens),
    issued:
      env.jwt &&
      createJwtAuthenticator(env.jwt, { fetch: sendRequest, clock: systemClock, keepAlive, log }),
    embedded: embedTokens,
  });
  const policies = composePolicies(env.policyKv, policyCache);
  const people = [...env.apiTokens, ...(env.development?.people ?? [])];
  return {
    authenticator: env.development
      ? createDevelopmentAuthenticator(env.development, {
          otherwise: tokens,
          allScopes: async (tenantId) => [
            ...SCOPES,
            ...(await source.load(tenantId)).flatMap(
              ({ contract }) => contract.security.requiredScopes,
            ),
            ...(await policies.load(tenantId)).policy.allowedTools.flatMap(({ scopes }) => scopes),
          ],
        })
      : tokens,
    embedTokens,
    origins: createKvOriginIndex(env.policyKv, systemClock),
    limits: {
      callers: createRateLimiter(env.callerLimit),
      addresses: createRateLimiter(env.addressLimit),
    },
    policies,
    connections: composeConnections(env).store,
    connectionBody: connectionBody(addressRulesOf(env)),
    providers: composeProviders(env).store,
    providerBody: tenantProviderBody(
      addressRulesOf(env),
      wires.models.map(({ id }) => id),
    ),
    registry,
    assistants: createCachedAssistants({
      registry: tenants.assistants,
      clock: systemClock,
      declared: assistants,
    }),
    assistantRegistry: tenants.assistants,
    runRecords: composeRunRecords(env),
    directory,
    conversations,
    queue,
    outcomes,
    escalations,
    notifications,
    consents,
    trail,
    erasures,
    feedback,
    metrics,
    spending,
    fingerprints: createFingerprints(env.rootSecret, env.olderSecret),
    auditSigner: createAuditSigner(env.rootSecret, env.olderSecret),
    storage: createStorageMeter({ ask: storageUse, clock: systemClock }),
    cursors: createSealedCursors(env.rootSecret, randomBytes),
    runs: createDurableRunGateway(env.runs),
    runIds: createHmacRunIds(env.rootSecret, randomBytes, env.olderSecret),
    clock: systemClock,
    log,
    source,
    rolesOf: (tenantId) => (env.jwt ? undefined : knownRoles(people, tenantId)),
    hasContextHook: context !== undefined,
    readTrace: traces?.readTrace,
    wires: wires.clients,
    clientTools: wires.clientTools,
    models,
    pages,
    readAsset: (request) => env.assets.fetch(request),
  };
}
