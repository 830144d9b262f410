import * as v from "valibot";
import { ApprovalNotices } from "../../run/approvals/notices.ts";
import { RunApprovals } from "../../run/approvals/run-approvals.ts";
import { createFingerprints } from "../../adapters/keys/hmac-fingerprints.ts";
import { createHttpEgress } from "../../adapters/egress/http-egress.ts";
import { createApprovalSigner } from "../../adapters/keys/jose-approval-signer.ts";
import { createPolicyAuthorization } from "../../adapters/policy/policy-authorization.ts";
import type { SteeringInbox } from "../../capabilities/run-journal.ts";
import type { AnyToolContract } from "../../contracts/define/definition.ts";
import { registerContracts } from "../../contracts/check/register.ts";
import { bindTools } from "../../contracts/bind/tool-source.ts";
import type { RunPorts } from "../../loop/run-scope.ts";
import { assistantDocument, type AssistantDocument } from "../../protocol/assistant/document.ts";
import type { ConnectionId } from "../../protocol/identity/ids.ts";
import type { Principal } from "../../protocol/identity/principal.ts";
import type { RunClaim } from "../../protocol/run/claim.ts";
import { narrowRun } from "../../protocol/policy/narrow-run.ts";
import { createInputBound } from "../../wire/model/input-bound.ts";
import { openAIWire } from "../../wire/openai/wire.ts";
import { NO_USED_NAMES } from "../memory/no-used-names.ts";
import { createWorkspaceBinder } from "../../workspace/bind-workspace.ts";
import { fillNode20 } from "../fill-node-20.ts";
import { FakeClock } from "../time/fake-clock.ts";
import { testAddressOf } from "../tool/exchange.ts";
import { FakeNetwork } from "../tool/fake-service.ts";
import { MemoryApprovals } from "../memory/memory-approvals.ts";
import { storeConnections } from "../memory/memory-connections.ts";
import { MemoryJournal } from "../memory/memory-journal.ts";
import { MemoryLedger } from "../memory/memory-ledger.ts";
import { MemoryLog } from "../memory/memory-log.ts";
import { MemoryPolicies } from "../memory/memory-policies.ts";
import { person, TEST_RUN_ID } from "./person.ts";
import { readTime } from "../time/read-time.ts";
import type { RunSettings } from "./run-settings.ts";
import { allowAll, readPolicy } from "../policy/test-policy.ts";
import { refuseMissing, TestHost } from "../test-host.ts";
import { hostedOf } from "../workspace/test-workspace.ts";
import { WorkMeter } from "../work-meter.ts";

/** Signs approvals and makes fingerprints. It protects nothing. */
const SECRET = "a secret of thirty-two characters";

/** An operator has this long to resolve an unknown outcome. */
export const OUTCOME_WAIT_MS = 24 * 60 * 60_000;

/** A run in memory: what the product takes, and what a test reads and changes. */
export interface OpenTestRun {
  readonly claim: RunClaim;
  readonly ports: RunPorts;
  readonly clock: FakeClock;
  readonly meter: WorkMeter;
  readonly network: FakeNetwork;
  readonly host: TestHost;
  readonly journal: MemoryJournal;
  readonly log: MemoryLog;
  readonly policies: MemoryPolicies;
  readonly approvals: RunApprovals;
}

/** Assembles a run of a test. Fails: throws for a contract, policy, assistant or connection that
 * the product would refuse. */
export async function openTestRun(settings: RunSettings): Promise<OpenTestRun> {
  fillNode20();
  const { tools, connections = {}, principal = callerOf(tools) } = settings;
  const clock = new FakeClock(readTime(settings.now));
  const meter = new WorkMeter();
  const network = new FakeNetwork(settings.http);
  const journal = new MemoryJournal();
  const log = new MemoryLog();
  const policies = new MemoryPolicies();
  const { policy, workspaces = [] } = settings;
  refuseMissing(settings);
  const host = new TestHost(workspaces, clock);
  const workspaceIds = workspaces.map((workspace) => hostedOf(workspace).address.workspaceId);
  const own = { principal, connectionIds: Object.keys(connections), workspaceIds };
  const allowed = policy === undefined ? allowAll(tools, own) : policy;
  await policies.store(readPolicy(allowed));
  const { tenantId } = principal;
  const approvals = openApprovals(journal);
  const bound = bindTools(registerContracts(tools.map((tool) => meter.contract(tool))), {
    clock,
    runTitle: { set: (title) => journal.append([{ type: "title_set", title }]) },
    egress: createHttpEgress({
      clock,
      fetch: meter.of((request) => network.answer(request)),
      addresses: addressesOf(tools),
    }),
    workspaces: createWorkspaceBinder(host, clock),
  });
  const ports: RunPorts = {
    source: { load: () => Promise.resolve(bound) },
    policies,
    registry: policies,
    clock,
    log,
    journal,
    approvals,
    approvalSigner: createApprovalSigner(SECRET),
    places: { take: () => Promise.resolve("taken") },
    fingerprints: createFingerprints(SECRET),
    usedNames: NO_USED_NAMES,
    authorizationOf: createPolicyAuthorization,
    broker: await storeConnections(connections),
    ledger: new MemoryLedger({ clock, registry: policies, tenantId }),
    model: settings.model,
    modelOf: () => undefined,
    inputBound: createInputBound(openAIWire),
    contextHook: settings.context && meter.contextHook(settings.context),
    hooks: (settings.hooks ?? []).map((hook) => meter.hook(hook)),
    inbox: NO_STEERING,
    random: { fraction: () => 0 },
    shelf: { load: () => Promise.resolve(journal.files) },
    limitTime: () => {},
    limitStorage: () => {},
    endsAtMs: () => Number.POSITIVE_INFINITY,
    outcomeWaitMs: OUTCOME_WAIT_MS,
    undoWaitMs: OUTCOME_WAIT_MS,
  };
  const claim = claimOf(settings, principal);
  return { claim, ports, clock, meter, network, host, journal, log, policies, approvals };
}

const NO_STEERING: SteeringInbox = { hasSteering: false, takeAll: () => [], close: () => {} };

/** In a test the upstream `desk` has the address `https://desk.test`. */
function addressesOf(tools: readonly AnyToolContract[]): ReadonlyMap<string, string> {
  const upstreams = tools.flatMap(({ security }) => security.upstreams);
  return new Map(upstreams.map((name) => [name, testAddressOf(name)]));
}

function openApprovals(journal: MemoryJournal): RunApprovals {
  return new RunApprovals({
    approvals: new MemoryApprovals(),
    invocations: journal.invocations,
    journal,
    notices: new ApprovalNotices(
      { notify: (notice) => void (notice.type === "audit" && journal.audit(notice.entry)) },
      TEST_RUN_ID,
    ),
    runId: TEST_RUN_ID,
  });
}

/** Builds the claim, as `POST /v1/chat` does. */
function claimOf(settings: RunSettings, principal: Principal): RunClaim {
  const { messages = "Hello.", connections = {}, requestContext } = settings;
  const assistant = readAssistant(settings.assistant ?? {});
  const connectionIds = Object.keys(connections) as ConnectionId[];
  const { workspaceId } = settings;
  return {
    runId: TEST_RUN_ID,
    principal,
    instructions: assistant.instructions,
    model: assistant.model ?? "scripted",
    messages: typeof messages === "string" ? [{ role: "user", text: messages }] : messages,
    ...(requestContext && { context: requestContext }),
    ...narrowRun({ named: { connectionIds, workspaceId }, embed: principal.embed, assistant }),
  };
}

function readAssistant(document: unknown): AssistantDocument {
  const parsed = v.safeParse(assistantDocument, document);
  if (parsed.success) return parsed.output;
  const lines = parsed.issues.map(
    (issue) => `${v.getDotPath(issue) ?? "assistant"}: ${issue.message}`,
  );
  throw new Error(`The assistant is not valid. ${lines.join("; ")}`);
}

function callerOf(tools: readonly AnyToolContract[]): Principal {
  const scopes = new Set(tools.flatMap(({ security }) => security.requiredScopes));
  return person("ann", { scopes: [...scopes] });
}
