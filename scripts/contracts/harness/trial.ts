import { createPolicyAuthorization } from "../../../src/adapters/policy-authorization.ts";
import type { ConnectionBroker } from "../../../src/capabilities/connection-broker.ts";
import type { AnyToolContract } from "../../../src/contracts/tool-contract.ts";
import type { ConnectionId } from "../../../src/protocol/ids.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";
import type { ToolFailure } from "../../../src/protocol/observation.ts";
import type { Principal } from "../../../src/protocol/principal.ts";
import { fail, ok } from "../../../src/protocol/result.ts";
import type {
  ToolExecResult,
  ToolInvocationContext,
} from "../../../src/protocol/tool-invocation.ts";
import {
  ACME,
  ANN,
  benchFor,
  passing,
  type Bench,
  type BenchSettings,
} from "../../../test/suites/runner-ports.ts";
import type { Subject } from "./subject.ts";

/** The one connection that is stored, and granted to a tool that requires one. */
export const CONNECTION = "con_harness" as ConnectionId;

/** How long the clock of a run stands still. Time that only real work takes must not change a result. */
const PATIENCE_MS = 500;

/** Something that reached the tool. */
export interface Started {
  readonly key: string;
  readonly context: ToolInvocationContext;
  readonly args: JsonObject;
}

/** One run with one tool in it, in which everything but what a test changes lets calls pass. */
export interface Trial {
  readonly bench: Bench;
  /** Once for each time the tool ran. */
  readonly started: readonly Started[];
  /** Calls the tool and waits for the end. Time stands still unless it is told to pass. */
  readonly call: (args: JsonObject | string, at?: CallSettings) => Promise<ToolExecResult>;
}

export interface CallSettings {
  readonly step?: number;
  readonly id?: string;
  /** Lets time pass as fast as it can. */
  readonly inHaste?: boolean;
}

/** What a test changes. */
export interface TrialSettings {
  /** Runs in place of `execute` and `checkState`; `attempt` counts from 1. Default: the contract's own. */
  readonly answer?: (attempt: number) => unknown;
  /** As if a person had approved each call, if the contract asks for one. Default: true. */
  readonly approved?: boolean;
  /** Fields of the contract; they stand above `answer`. */
  readonly change?: Partial<AnyToolContract>;
  /** Fields of a policy that allows everything. */
  readonly policy?: object;
  readonly principal?: Partial<Principal>;
  readonly ports?: BenchSettings;
}

/** Opens a run for one call, or a few. */
export function openTrial(subject: Subject, settings: TrialSettings = {}): Trial {
  const started: Started[] = [];
  const { answer, approved = true, change, policy, principal, ports } = settings;
  const tool = {
    ...subject.contract,
    ...(approved && asApproved(subject)),
    ...(answer && standIn(answer, started)),
    ...change,
  };
  const contract = recording(tool, answer ? undefined : started);
  const { name, security, runtime } = subject.contract;
  const bench = benchFor([contract, ...subject.companions], {
    policy: { ...lenientPolicy(subject), ...policy },
    principal: { tenantId: ACME, actorId: ANN, scopes: security.requiredScopes, ...principal },
    connectionIds: [CONNECTION],
    authorizationOf: createPolicyAuthorization,
    broker: oneConnection,
    ...ports,
  });
  return {
    bench,
    started,
    call(args, { inHaste = false, ...at } = {}) {
      const ending = bench.call(name, args, at);
      const strideMs = Math.max(1_000, runtime.timeoutMs);
      const letPass = (): Promise<ToolExecResult> => passing(ending, bench.clock, strideMs);
      return inHaste ? letPass() : endOf(ending, letPass);
    },
  };
}

/**
 * The contract as if a person had approved each of its calls: what comes after that gate is the same.
 * Nobody can be asked yet, so nothing else shows it.
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
  answer: (attempt: number) => unknown,
  started: Started[],
): Pick<AnyToolContract, "execute"> & { readonly checkState: () => ReturnType<typeof ok<null>> } {
  return {
    checkState: () => ok(null),
    execute(args: JsonObject, context: ToolInvocationContext, granted: { idempotencyKey: string }) {
      started.push({ key: granted.idempotencyKey, context, args });
      return answer(started.length);
    },
  };
}

/** Lets the contract's own function run, and notes that it did. */
function recording(contract: AnyToolContract, started: Started[] | undefined): AnyToolContract {
  if (!started) return contract;
  return {
    ...contract,
    execute(args: never, context, granted: never) {
      const { idempotencyKey: key } = granted as { readonly idempotencyKey: string };
      started.push({ key, context, args });
      return contract.execute(args, context, granted);
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
    grants: requiresConnection ? [{ connectionId: CONNECTION, tools: [name] }] : [],
  };
}

const oneConnection: ConnectionBroker = {
  bind: (tenantId, connectionId) =>
    Promise.resolve(
      tenantId === ACME && connectionId === CONNECTION
        ? ok({
            getAccessToken: () => Promise.resolve("token"),
            getAuthHeaders: () => Promise.resolve({ authorization: "Bearer token" }),
          })
        : fail({ code: "unknown_connection" }),
    ),
};

/** Waits for the end of a call, and only if it does not come lets the run's time pass. */
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
