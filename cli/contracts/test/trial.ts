import { createPolicyAuthorization } from "../../../src/adapters/policy/policy-authorization.ts";
import type { ConnectionBroker } from "../../../src/capabilities/connection.ts";
import {
  type AuthorCode,
  revealCode,
  sealCode,
} from "../../../src/contracts/define/author-code.ts";
import type { AnyToolContract } from "../../../src/contracts/define/definition.ts";
import type { ConnectionId } from "../../../src/protocol/identity/ids.ts";
import type { JsonObject } from "../../../src/protocol/json/value.ts";
import type { ToolFailure } from "../../../src/protocol/outcome/observation.ts";
import type { Principal } from "../../../src/protocol/identity/principal.ts";
import { fail, ok } from "../../../src/protocol/outcome/result.ts";
import type {
  ToolExecResult,
  ToolInvocationContext,
} from "../../../src/protocol/invocation/record.ts";
import { WAITING } from "../../../src/runner/waiting.ts";
import type { RunEvidence } from "../../../src/loop/replay/evidence.ts";
import { happen } from "../../../src/testing/fakes/evidence.ts";
import {
  ACME,
  ANN,
  benchFor,
  passing,
  type Bench,
  type BenchSettings,
} from "../../../src/testing/fakes/runner-ports.ts";
import { fakeWorkspaces, WORKSPACE_ID } from "./fake-workspaces.ts";
import { openNetwork, type FakeNetwork } from "./fake-network.ts";
import type { Subject } from "./subject.ts";

/** The stored connection, granted to a tool that requires one. */
export const CONNECTION = "con_harness" as ConnectionId;

/**
 * Time for which a run's clock stands still, so that the speed of the machine changes no result.
 */
const PATIENCE_MS = 500;

/** One call that reached the tool. */
export interface Started {
  readonly key: string;
  readonly context: ToolInvocationContext;
  readonly args: JsonObject;
}

/** One run with one tool. Calls pass every gate that a test does not change. */
export interface Trial {
  readonly bench: Bench;
  readonly network: FakeNetwork;
  /** Once for each time the tool ran. */
  readonly started: readonly Started[];
  /**
   * Calls the tool and waits until it has ended, or waits itself. Time stands still unless it is
   * told to pass.
   */
  readonly ask: (
    args: JsonObject | string,
    at?: CallSettings,
  ) => Promise<ToolExecResult | typeof WAITING>;
  /** The same of a call that ends. */
  readonly call: (args: JsonObject | string, at?: CallSettings) => Promise<ToolExecResult>;
}

export interface CallSettings {
  readonly step?: number;
  readonly id?: string;
  /** Lets time pass as fast as it can. */
  readonly inHaste?: boolean;
}

/** Changes that a test makes. */
export interface TrialSettings {
  /**
   * Runs in place of `execute` and `checkState`; `attempt` counts from 1. Default: the contract's
   * own.
   */
  readonly answer?: (attempt: number) => unknown;
  /** As if a person had approved each call, if the contract asks for one. Default: true. */
  readonly approved?: boolean;
  /** Repeats a write for the time of its contract, not only `maxRetries` times. Default: false. */
  readonly keepsTrying?: boolean;
  /** Fields of the contract. */
  readonly change?: Partial<AnyToolContract>;
  /** Functions that stand above `answer`, made of the contract's own. */
  readonly code?: (own: AuthorCode) => AuthorCode;
  /** Fields of a policy that allows everything. */
  readonly policy?: object;
  readonly principal?: Partial<Principal>;
  /** Answers every HTTP request, in place of the sample exchanges. */
  readonly service?: () => Response;
  readonly ports?: BenchSettings;
}

/** Opens a run for one or a few calls. */
export function openTrial(subject: Subject, settings: TrialSettings = {}): Trial {
  const started: Started[] = [];
  const { principal, ports, service } = settings;
  const network = openNetwork(subject.contract, subject.exchanges, service);
  const { name, runtime } = subject.contract;
  const bench = benchFor(contractsOf(subject, settings, started), {
    policy: { ...lenientPolicy(subject), ...settings.policy },
    principal: { ...callerOf(subject), ...principal },
    connectionIds: [CONNECTION],
    authorizationOf: createPolicyAuthorization,
    broker: oneConnection,
    egress: network.egress,
    workspaces: fakeWorkspaces,
    workspaceId: WORKSPACE_ID,
    ...ports,
  });
  const ask: Trial["ask"] = (args, { inHaste = false, ...at } = {}) => {
    const ending = bench.ask(name, args, at);
    // The caller sees the rejection later, when it awaits the promise.
    ending.catch(() => {});
    const strideMs = Math.max(1_000, runtime.timeoutMs);
    const letPass = (): typeof ending => passing(ending, bench.clock, strideMs);
    return inHaste ? letPass() : endOf(ending, letPass);
  };
  return {
    bench,
    network,
    started,
    ask,
    async call(...asked) {
      const outcome = await ask(...asked);
      if (outcome === WAITING) throw new Error("it waits for people");
      return outcome;
    },
  };
}

/**
 * Runs a whole run in which the model calls the tool once. Returns its record and its contracts.
 */
export async function recordRun(
  subject: Subject,
  settings: Pick<TrialSettings, "approved" | "policy">,
  args: JsonObject,
): Promise<{ readonly evidence: RunEvidence; readonly contracts: readonly AnyToolContract[] }> {
  const contracts = contractsOf(subject, settings, []);
  const evidence = await happen({
    contracts,
    answers: [{ text: "So", calls: [[subject.contract.name, args]] }, { text: "Done" }],
    policy: { ...lenientPolicy(subject), ...settings.policy },
    claim: { principal: callerOf(subject), connectionIds: [CONNECTION], workspaceId: WORKSPACE_ID },
    ports: { broker: oneConnection },
    egress: openNetwork(subject.contract, subject.exchanges).egress,
    workspaces: fakeWorkspaces,
  });
  return { evidence, contracts };
}

function callerOf({ contract }: Subject): Principal {
  return { tenantId: ACME, actorId: ANN, roles: [], scopes: contract.security.requiredScopes };
}

function contractsOf(
  subject: Subject,
  { answer: given, approved = true, change, code, keepsTrying = false }: TrialSettings,
  started: Started[],
): readonly AnyToolContract[] {
  // The tools of a saga's steps are tested themselves. The arguments are as after the answer to a
  // contract's question.
  const { saga, ask: _question, ...contract } = subject.contract;
  const answer = given ?? (saga && (() => ok(subject.outputs[0])));
  // Every mode calls the tool as a model does.
  const tool: AnyToolContract = {
    ...contract,
    shownToModel: true,
    ...(approved && asApproved(subject)),
    ...change,
  };
  const { runtime } = tool;
  const tried = keepsTrying ? tool : { ...tool, runtime: { ...runtime, retryForMs: 0 } };
  const own = revealCode(contract);
  const replaced = { ...own, ...(answer && standIn(own, answer, started)), ...code?.(own) };
  const called = answer ? replaced : recording(replaced, started);
  return [{ ...tried, code: sealCode(called) }, ...subject.companions];
}

/**
 * Returns the contract without the need for approval. Everything after that gate stays the same.
 */
function asApproved({ contract }: Subject): Partial<AnyToolContract> {
  const { transactional } = contract;
  if (!transactional.confirmationRequired) return {};
  return {
    sideEffectClass: "MEDIUM_RISK_WRITE",
    transactional: { ...transactional, confirmationRequired: false },
  };
}

/** A failure as a tool returns it. */
export function failing(
  taxonomyClass: ToolFailure["taxonomyClass"],
  {
    code = "harness",
    retryAfterMs,
  }: { readonly code?: string; readonly retryAfterMs?: number } = {},
): { readonly ok: false; readonly failure: ToolFailure } {
  const errors = [{ field: null, code, message: "as the test wants it" }];
  return fail({ taxonomyClass, errors, ...(retryAfterMs !== undefined && { retryAfterMs }) });
}

function standIn(
  own: AuthorCode,
  answer: (attempt: number) => unknown,
  started: Started[],
): AuthorCode {
  return {
    checkState: () => ok(null),
    ...(own.reconcile && { reconcile: () => Promise.resolve({ kind: "unknown" }) }),
    execute(args: JsonObject, context: ToolInvocationContext, granted: { idempotencyKey: string }) {
      started.push({ key: granted.idempotencyKey, context, args });
      return answer(started.length);
    },
  };
}

/** Runs the contract's own function, and counts the call. */
function recording(code: AuthorCode, started: Started[]): AuthorCode {
  return {
    ...code,
    execute(args: never, context, granted: never) {
      const { idempotencyKey: key } = granted as { readonly idempotencyKey: string };
      started.push({ key, context, args });
      return code.execute?.(args, context, granted);
    },
  };
}

const PLENTY = { maxCritical: 1_000 } as const;

function lenientPolicy({ contract }: Subject): object {
  const { name, version, runtime, requiresConnection } = contract;
  return {
    allowedTools: [{ id: name, versions: [version] }],
    currency: runtime.cost.currency,
    budgets: PLENTY,
    tenantBudgets: PLENTY,
    workspaces: { [WORKSPACE_ID]: { actors: [ANN, "user:bo"] } },
    grants: requiresConnection ? [{ connectionId: CONNECTION, tools: [name] }] : [],
  };
}

/** No word that a tool could return for another reason. */
const TOKEN = "token-of-the-trial";

const oneConnection: ConnectionBroker = {
  bind: (tenantId, connectionId) =>
    Promise.resolve(
      tenantId === ACME && connectionId === CONNECTION
        ? ok({
            auth: {
              getAccessToken: () => Promise.resolve(TOKEN),
              getAuthHeaders: () => Promise.resolve({ authorization: `Bearer ${TOKEN}` }),
            },
            secrets: [TOKEN],
          })
        : fail({ code: "unknown_connection" }),
    ),
};

/** Waits for the end of a call. Advances the run's clock only if the call does not end. */
async function endOf<T>(ending: Promise<T>, letPass: () => Promise<T>): Promise<T> {
  const { promise: isLate, resolve } = Promise.withResolvers<"late">();
  const timer = setTimeout(() => resolve("late"), PATIENCE_MS);
  try {
    const first = await Promise.race([ending, isLate]);
    return first === "late" ? await letPass() : first;
  } finally {
    clearTimeout(timer);
  }
}
