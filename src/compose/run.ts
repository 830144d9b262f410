import { createConsoleLog } from "../adapters/platform/console-log.ts";
import { createUsedNames } from "../adapters/keys/hmac-used-names.ts";
import { createFingerprints } from "../adapters/keys/hmac-fingerprints.ts";
import { createHmacRunIds } from "../adapters/run/hmac-run-ids.ts";
import { randomBytes, systemClock, systemRandom } from "../adapters/platform/system.ts";
import { createPolicyAuthorization } from "../adapters/policy/policy-authorization.ts";
import { createDurableRunGateway } from "../adapters/run/durable-run-gateway.ts";
import { createModelWithFiles } from "../adapters/model/model-with-files.ts";
import { createSealedResults } from "../adapters/run/sealed-results.ts";
import { createKeyRing } from "../adapters/keys/key-ring.ts";
import { createRunFiles, type RunFilesPorts } from "../adapters/run/run-files.ts";
import { createApprovalSigner } from "../adapters/keys/jose-approval-signer.ts";
import type { ApprovalSigner } from "../capabilities/approval.ts";
import type { ResultShelf, ResultStore } from "../capabilities/results.ts";
import type { Log } from "../capabilities/log.ts";
import type { Clock } from "../capabilities/system.ts";
import type { RunGateway } from "../capabilities/run.ts";
import type { RunIds } from "../capabilities/run-ids.ts";
import type { Fingerprints } from "../capabilities/fingerprints.ts";
import type { RunJournal } from "../capabilities/run-journal.ts";
import { createToolSource } from "../contracts/bind/tool-source.ts";
import { requireEnv, type RawEnv } from "../env.ts";
import type { RunId, TenantId } from "../protocol/identity/ids.ts";
import type { RegisteredContract } from "../contracts/catalog/registered.ts";
import { createDirectory } from "../loop/open-scope.ts";
import type { RunMetrics } from "../run/notices/run-notices.ts";
import type { DecidingPorts } from "../loop/replay/ports.ts";
import type { RunPorts } from "../loop/run-scope.ts";
import { createResultReader, type KnownCalls } from "../run/read-result.ts";
import type { VerifyingPorts } from "../run/verification/verify-write.ts";
import type { Deployment, FollowedRun } from "./deployment.ts";
import { composeModels, requireModels } from "./models.ts";
import { composeConnections, composePolicies, composeProviders } from "./stores.ts";
import { composeTenants } from "./tenant.ts";
import { composeEgress } from "./upstreams.ts";

/** Gives the log of everything in a run's object. */
export function composeLog(): Log {
  return createConsoleLog();
}

/** Gives the clock of everything in a run's object. */
export function composeClock(): Clock {
  return systemClock;
}

/** Assembles the fingerprints of what leaves a run's object. */
export function composeFingerprints(raw: RawEnv): Fingerprints {
  const { rootSecret, olderSecret } = requireEnv(raw);
  return createFingerprints(rootSecret, olderSecret);
}

/** Assembles what counting a run at its end needs; undefined in a deployment without metrics. */
export function composeMetrics(
  raw: RawEnv,
  deployment: Deployment,
): Omit<RunMetrics, "approvals"> | undefined {
  const { metrics, contracts } = deployment;
  if (!metrics) return undefined;
  const find = (toolId: string): RegisteredContract | undefined =>
    contracts.find(({ spec }) => spec.name === toolId);
  return {
    measure: metrics.measure,
    mutates(toolId) {
      const found = find(toolId);
      return found && found.spec.effect !== "read_only";
    },
    currencyOf: (toolId) => find(toolId)?.contract.runtime.cost.currency,
    pricesOf(claim, model) {
      const { models } = requireModels(raw, deployment);
      return createDirectory(claim, (id) => models.get(id))(model)?.prices;
    },
  };
}

/** Assembles what undoing a call of a run needs. */
export function composeUndo(raw: RawEnv): UndoParts {
  const { rootSecret, olderSecret, lifetimes } = requireEnv(raw);
  const runIds = createHmacRunIds(rootSecret, randomBytes, olderSecret);
  return { runIds, clock: composeClock(), keptMs: lifetimes.runMs };
}

/** Assembles the gateway to the objects of runs. */
export function composeRunGateway(raw: RawEnv): RunGateway {
  return createDurableRunGateway(requireEnv(raw).runs);
}

interface UndoParts {
  readonly runIds: RunIds;
  readonly clock: Clock;
  /** How long an ended run is kept. Unit: milliseconds. */
  readonly keptMs: number;
}

/** What the run's object supplies. */
export interface RunParts extends FollowedRun {
  readonly runId: RunId;
  readonly tenantId: TenantId;
  readonly journal: RunJournal & FollowedRun["journal"];
  readonly deployment: Deployment;
  /** What the loop gets as it is. */
  readonly own: Pick<
    RunPorts,
    "inbox" | "mismatches" | "approvals" | "limitTime" | "limitStorage" | "endsAtMs"
  >;
  /** The files that the run keeps, and in whose name it reads those of earlier runs. */
  readonly shelf: Pick<RunFilesPorts, "own" | "viewer">;
  /** Where the run stores what nobody was shown whole. */
  readonly results: ResultStore;
  readonly invocations: KnownCalls;
}

/** Assembles the sealed results of a run. */
export function composeResults(
  raw: RawEnv,
  { results: store, tenantId, runId }: Pick<RunParts, "results" | "tenantId" | "runId">,
): ResultShelf {
  const keyRing = createKeyRing(requireEnv(raw).connectionKeys, randomBytes);
  return createSealedResults({ keyRing, store, tenantId, runId });
}

/** Assembles what an approval decision needs. The tools that its source binds never act. */
export function composeDeciding(
  raw: RawEnv,
  deployment: Deployment,
): Pick<
  RunPorts,
  | "policies"
  | "registry"
  | "source"
  | "authorizationOf"
  | "modelOf"
  | "log"
  | "conversationOf"
  | "broker"
  | "fingerprints"
> & {
  readonly signer: ApprovalSigner;
  readonly ledgerOf: (tenantId: TenantId) => RunPorts["ledger"];
} {
  const env = requireEnv(raw);
  const tenants = composeTenants(env.tenants);
  const { source, policyCache } = deployment;
  return {
    log: composeLog(),
    registry: tenants.registry,
    ledgerOf: (tenantId) => tenants.ledgerOf(tenantId),
    signer: createApprovalSigner(env.rootSecret, env.olderSecret),
    authorizationOf: createPolicyAuthorization,
    broker: composeConnections(env).broker,
    fingerprints: composeFingerprints(raw),
    conversationOf: (conversationId) => composeRunGateway(raw).of(conversationId),
    modelOf: (id) => requireModels(raw, deployment).models.get(id),
    policies: composePolicies(env.policyKv, policyCache),
    source: createToolSource(source, {
      clock: composeClock(),
      runTitle: { set: () => {} },
      egress: composeEgress(raw, deployment),
      workspaces: deployment.workspaces?.binderOf(raw),
    }),
  };
}

/** Assembles what deciding a finished run again needs. The tools of its source never act. */
export function composeReplay(
  raw: RawEnv,
  deployment: Deployment,
  tenantId: TenantId,
): {
  readonly policies: RunPorts["policies"];
  readonly conversationOf: NonNullable<RunPorts["conversationOf"]>;
  readonly deciding: DecidingPorts;
} {
  const { policies, source, authorizationOf, fingerprints, signer } = composeDeciding(
    raw,
    deployment,
  );
  const { modelOf, inputBound } = composeModels(requireModels(raw, deployment), composeClock(), {
    broker: composeProviders(requireEnv(raw)).broker,
    tenantId,
  });
  return {
    policies,
    conversationOf: (conversationId) => composeRunGateway(raw).of(conversationId),
    deciding: {
      source,
      authorizationOf,
      modelOf,
      inputBound,
      fingerprints,
      approvalSigner: signer,
    },
  };
}

/** Assembles what reading the state after a write needs. */
export function composeVerifying(
  raw: RawEnv,
  { deployment, tenantId, runId }: Pick<RunParts, "deployment" | "tenantId" | "runId">,
): VerifyingPorts {
  const log = composeLog().about({ tenantId, runId });
  return { ...composeDeciding(raw, deployment), clock: composeClock(), log };
}

/**
 * Assembles one run from the raw bindings and the parts of its object.
 * Fails: throws on bindings that the Worker refuses too.
 */
export function composeRun(raw: RawEnv, parts: RunParts): RunPorts {
  const env = requireEnv(raw);
  const { runId, tenantId, journal, deployment, own, shelf } = parts;
  const { source, hooks, context, policyCache } = deployment;
  const clock = composeClock();
  const tenants = composeTenants(env.tenants);
  const runTitle = {
    set: (title: string): void => journal.append([{ type: "title_set", title }]),
  };
  const workspaces = deployment.workspaces?.binderOf(raw);
  const composed = composeModels(requireModels(raw, deployment), clock, {
    broker: composeProviders(env).broker,
    tenantId,
  });
  const runs = composeRunGateway(raw);
  const files = createRunFiles({ ...shelf, runs });
  const results = composeResults(raw, parts);
  const ways = {
    model: createModelWithFiles(composed.model, files),
    egress: composeEgress(raw, deployment),
  };
  const { model, egress } = deployment.traces?.follow(parts, ways) ?? ways;
  return {
    clock,
    log: composeLog().about({ tenantId, runId }),
    journal,
    ...own,
    approvalSigner: createApprovalSigner(env.rootSecret, env.olderSecret),
    fingerprints: createFingerprints(env.rootSecret, env.olderSecret),
    usedNames: createUsedNames(env.rootSecret, tenants.usedNames),
    contextHook: context,
    workspaces,
    outcomeWaitMs: env.lifetimes.outcomeMs,
    undoWaitMs: env.lifetimes.runMs,
    random: systemRandom,
    hooks,
    policies: composePolicies(env.policyKv, policyCache),
    authorizationOf: createPolicyAuthorization,
    broker: composeConnections(env).broker,
    registry: tenants.registry,
    ledger: tenants.ledgerOf(tenantId),
    places: tenants.placesOf(tenantId),
    results,
    source: createToolSource(source, {
      clock,
      runTitle,
      egress,
      workspaces,
      results: createResultReader(parts.invocations, results),
    }),
    ...composed,
    model,
    shelf: files,
    conversationOf: (conversationId) => runs.of(conversationId),
  };
}
