import { MemoryLog } from "../memory/memory-log.ts";
import { createFingerprints } from "../../adapters/keys/hmac-fingerprints.ts";
import { createApprovalSigner } from "../../adapters/keys/jose-approval-signer.ts";
import type { AuthorizationRequest } from "../../capabilities/identity.ts";
import type { BudgetLedger, Reservation, ReservationAnswer } from "../../capabilities/budget.ts";
import type { WorkspaceBinder } from "../../capabilities/workspace.ts";
import type { Egress } from "../../capabilities/http.ts";
import type { RunTitle } from "../../capabilities/tool.ts";
import { registerContracts } from "../../contracts/check/register.ts";
import { bindTools } from "../../contracts/bind/tool-source.ts";
import type { AnyToolContract } from "../../contracts/define/definition.ts";
import type { BudgetAmounts } from "../../protocol/budget/amounts.ts";
import type { ActorId, RunId, TenantId, ToolCallId } from "../../protocol/identity/ids.ts";
import { fail } from "../../protocol/outcome/result.ts";
import type {
  ToolExecResult,
  ToolInvocationContext,
  ToolInvocationRecord,
} from "../../protocol/invocation/record.ts";
import { ConversationImages } from "../../loop/history/conversation-images.ts";
import type { RunPorts } from "../../loop/run-scope.ts";
import type { ToolRunnerPorts } from "../../runner/ports.ts";
import { createFlow } from "../../runner/flow/evidence.ts";
import { InvocationLedger } from "../../runner/invocation/invocation-ledger.ts";
import { RunBudget } from "../../runner/budget/of-run.ts";
import { WAITING } from "../../runner/waiting.ts";
import { createInputBound } from "../../wire/model/input-bound.ts";
import { openAIWire } from "../../wire/openai/wire.ts";
import { createToolRunner, type ToolRunner } from "../../runner/tool-runner.ts";
import { FakeClock } from "../time/fake-clock.ts";
import { MemoryJournal } from "../memory/memory-journal.ts";
import { NO_USED_NAMES } from "../memory/no-used-names.ts";
import { fakeRunCapabilities, newestOf, policyOf } from "./fakes.ts";
import { TestDesk } from "./test-desk.ts";

export const RUN_ID = "run_1" as RunId;
export const ACME = "acme" as TenantId;
export const ANN = "user:ann" as ActorId;

export function contextOf(toolCallId: ToolCallId, step = 1): ToolInvocationContext {
  return { runId: RUN_ID, tenantId: ACME, actorId: ANN, toolCallId, step, part: 0 };
}

type Asked = [
  name: string,
  args: unknown,
  at?: { step?: number; id?: string; signal?: AbortSignal },
];

/** A runner over one clock, with a record of all calls of its ports. */
export interface Bench {
  readonly runner: ToolRunner;
  readonly clock: FakeClock;
  readonly journal: MemoryJournal;
  readonly questions: AuthorizationRequest[];
  readonly reservations: Reservation[];
  /** How the reservations were closed. */
  readonly closed: readonly Closed[];
  /** Calls a tool in a step, with a new id unless one is given. */
  readonly ask: (...call: Asked) => Promise<ToolExecResult | typeof WAITING>;
  /** The same for a call that ends. */
  readonly call: (...call: Asked) => Promise<ToolExecResult>;
}

/** Ports that a test can replace. `policy` is a document. */
export type BenchSettings = Partial<
  Omit<ToolRunnerPorts, "policy" | "budget" | "versions" | "invocations">
> & {
  readonly policy?: object;
  readonly runTitle?: RunTitle;
  readonly egress?: Egress;
  readonly workspaces?: WorkspaceBinder;
  /** Answers of the tenant's ledger, in order. After the last one it reserves. */
  readonly ledgerAnswers?: readonly ReservationAnswer[];
  /** Records of earlier incarnations of the run. */
  readonly stored?: readonly ToolInvocationRecord[];
};

/** Signer of the approvals in tests. */
export const APPROVAL_SECRET = "a secret of thirty-two characters";
/** A tenant's ledger with given answers, which records how reservations are closed. */
export function ledgerThat(reserve: BudgetLedger["reserve"], closed: Closed[] = []): BudgetLedger {
  return {
    reserve,
    peek: async () => ({ kind: "reserved" }),
    settle: async (id, used) => void closed.push([id, used]),
    release: async (id) => void closed.push([id, "released"]),
  };
}

/** How a reservation was closed. */
export type Closed = readonly [id: string, what: BudgetAmounts | "released"];

/** Ports that let every call pass. */
export function lenientPorts(): Pick<
  RunPorts,
  | "approvals"
  | "approvalSigner"
  | "places"
  | "fingerprints"
  | "authorizationOf"
  | "broker"
  | "ledger"
  | "inputBound"
  | "modelOf"
  | "hooks"
  | "usedNames"
  | "log"
  | "random"
  | "registry"
  | "limitTime"
  | "limitStorage"
  | "endsAtMs"
  | "outcomeWaitMs"
  | "undoWaitMs"
  | "shelf"
> {
  return {
    authorizationOf: () => ({ check: () => Promise.resolve("allow") }),
    broker: { bind: () => Promise.resolve(fail({ code: "unknown_connection" })) },
    ledger: ledgerThat(() => Promise.resolve({ kind: "reserved" })),
    modelOf: () => undefined,
    inputBound: createInputBound(openAIWire),
    registry: { current: () => Promise.resolve({ revision: 1, hash: "sha256:1" }) },
    approvals: new TestDesk(),
    approvalSigner: createApprovalSigner(APPROVAL_SECRET),
    places: { take: () => Promise.resolve("taken") },
    fingerprints: createFingerprints(APPROVAL_SECRET),
    usedNames: NO_USED_NAMES,
    hooks: [],
    log: new MemoryLog(),
    limitTime: () => {},
    limitStorage: () => {},
    endsAtMs: () => Number.POSITIVE_INFINITY,
    outcomeWaitMs: 60_000,
    undoWaitMs: 60_000,
    random: { fraction: () => 0 },
    shelf: { load: () => Promise.resolve(new Map()) },
  };
}

/** Builds a runner for contracts. All contracts are allowed unless the settings say otherwise. */
export function benchFor(contracts: readonly unknown[], settings: BenchSettings = {}): Bench {
  const known = contracts as readonly AnyToolContract[];
  const { policy: document, ledgerAnswers = [], stored = [], ...replaced } = settings;
  const policy = policyOf(document ?? { allowedTools: known.map(({ name }) => name) });
  const clock = new FakeClock();
  const journal = new MemoryJournal();
  const questions: AuthorizationRequest[] = [];
  const reservations: Reservation[] = [];
  const closed: Closed[] = [];
  const answers = [...ledgerAnswers];
  const { runTitle, egress, workspaces } = { ...fakeRunCapabilities(), ...settings };
  const tools = bindTools(registerContracts(known), {
    clock,
    runTitle,
    egress,
    workspaces,
  });
  const ports = lenientPorts();
  const invocations = new InvocationLedger(journal, stored);
  let calls = 0;
  let parts = 0;
  const runner = createToolRunner({
    ...ports,
    nextPart: () => ++parts,
    images: new ConversationImages({ ...ports, journal, runId: RUN_ID }, []),
    invocations,
    flow: createFlow(invocations, () => [], ports.approvals),
    workflowId: RUN_ID,
    tools,
    versions: newestOf(tools),
    policy,
    pin: { revision: 1, hash: "sha256:1" },
    policies: {
      load: () => Promise.resolve({ policy }),
      learn: () => {},
      read: () => Promise.resolve({ policy: policyOf({ allowedTools: [] }) }),
    },
    principal: { tenantId: ACME, actorId: ANN, roles: [], scopes: [] },
    caller: { actorId: ANN, roles: [], models: ["m"] },
    connectionIds: [],
    authorizationOf: () => ({
      check(question) {
        questions.push(question);
        return Promise.resolve("allow");
      },
    }),
    ledger: ledgerThat((reservation) => {
      reservations.push(reservation);
      return Promise.resolve(answers.shift() ?? { kind: "reserved" });
    }, closed),
    budget: new RunBudget({ policy }),
    inbox: { hasSteering: false },
    journal,
    clock,
    ...replaced,
  });
  const ask: Bench["ask"] = (name, args, at = {}) => {
    const { step = ++calls, id = `call_${step}`, signal = new AbortController().signal } = at;
    const toolCallId = id as ToolCallId;
    const argumentsText = typeof args === "string" ? args : JSON.stringify(args);
    const call = { toolCallId, name, argumentsText, truncated: false };
    return runner.exec(call, contextOf(toolCallId, step), signal);
  };
  return {
    runner,
    clock,
    journal,
    questions,
    reservations,
    closed,
    ask,
    async call(...asked) {
      const outcome = await ask(...asked);
      if (outcome === WAITING) throw new Error("it waits for people");
      return outcome;
    },
  };
}

/** Returns class and code of the first error of an outcome. */
export function endOf({ observation }: ToolExecResult): readonly [string, string | undefined] {
  const { status, result_payload: payload } = observation;
  return [status.taxonomy_class, payload.errors[0]?.code];
}

/** Waits until all work that waits only for promises is done. */
export async function drainPromises(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  await new Promise((resolve) => setTimeout(resolve, 0));
}

/** Advances the clock in steps until a promise has resolved. */
export async function passing<T>(
  pending: Promise<T>,
  clock: FakeClock,
  strideMs = 1_000,
): Promise<T> {
  const waits = Symbol("waits");
  for (let turn = 0; turn < 1_000; turn++) {
    await drainPromises();
    const first = await Promise.race([pending, Promise.resolve(waits)]);
    if (first !== waits) return first;
    clock.advance(strideMs);
  }
  throw new Error("it never came to an end");
}
