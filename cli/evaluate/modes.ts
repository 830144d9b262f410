import type { AuditEntry } from "../../src/protocol/audit/entry.ts";
import { memberOf } from "../../src/protocol/json/pointer.ts";
import { isJsonObject, type JsonObject } from "../../src/protocol/json/value.ts";
import type { FailureClass } from "../../src/protocol/outcome/taxonomy.ts";
import type { Evaluated, EvaluatedRun } from "./evaluated-runs.ts";

/** What a mode finds wrong with a call or a run. */
export interface Fault {
  readonly runId: string;
  /** `inv_<number>`. Absent: the run as a whole. */
  readonly invocationId?: string | undefined;
  readonly what: string;
}

/** What a mode looked at, and what it found. */
export interface Looked {
  readonly looked: number;
  readonly faults: readonly Fault[];
}

/** One test mode of seeds/004, "Tool Contract Evaluation Harness", over runs of production. */
export interface EvaluationMode {
  readonly id: string;
  readonly name: string;
  /** What an export must hold besides the audit log, so that the mode looks at anything. */
  readonly needs: "log" | "traces" | "contracts";
  readonly look: (run: EvaluatedRun, contracts: Evaluated["contracts"]) => Looked;
}

type Check = (call: AuditEntry, run: EvaluatedRun) => string | undefined;

/** Looks at each ended call that `fits`; `check` says what is wrong with it. */
function ofCalls(fits: (call: AuditEntry) => boolean, check: Check): EvaluationMode["look"] {
  return (run) => {
    const calls = endedCalls(run).filter(fits);
    return {
      looked: calls.length,
      faults: calls.flatMap((call) => faultOf(call, check(call, run))),
    };
  };
}

function endedCalls({ entries }: EvaluatedRun): readonly AuditEntry[] {
  return entries.filter(({ action }) => action === "call.ended");
}

function faultOf({ runId, invocationId }: AuditEntry, what: string | undefined): readonly Fault[] {
  return what === undefined ? [] : [{ runId: runId ?? "", invocationId, what }];
}

/** Tells whether a call reached its tool, as its gates say. */
function hasRun({ gates }: AuditEntry): boolean {
  const { passed = [], refusedBy = "" } = gates ?? {};
  return passed.includes("execute") || ["execute", "output"].includes(refusedBy);
}

/** A call that reached its tool has passed these gates. */
function passedAll(...names: readonly string[]): Check {
  return ({ gates }) => {
    const missing = names.filter((name) => !gates?.passed.includes(name));
    return missing.length > 0 ? `it ran without the gate ${missing.join(", ")}` : undefined;
  };
}

const isClass =
  (...classes: readonly FailureClass[]) =>
  ({ outcome }: AuditEntry): boolean =>
    classes.some((one) => one === outcome);

const MENDED_BY_NOBODY = isClass(
  "PERMISSION_DENIED",
  "POLICY_VIOLATION",
  "SEMANTIC_INVALIDITY",
  "STRUCTURAL_VIOLATION",
  "TYPE_MISMATCH",
  "OUT_OF_BOUNDS",
);

/** All modes, in the order of seeds/004. */
export const MODES: readonly EvaluationMode[] = [
  {
    id: "schema_conformance",
    name: "Schema conformance",
    needs: "log",
    look: ofCalls(hasRun, passedAll("parse", "arguments")),
  },
  {
    id: "semantic_validation",
    name: "Semantic validation",
    needs: "log",
    look: ofCalls(hasRun, passedAll("rules")),
  },
  {
    id: "permission_boundary",
    name: "Permission boundary",
    needs: "log",
    look: ofCalls(hasRun, passedAll("policy", "caller", "data", "authorise", "argument_rules")),
  },
  {
    id: "approval_gate",
    name: "Approval gate",
    needs: "log",
    look: ofCalls(hasRun, checkApproval),
  },
  { id: "idempotency", name: "Idempotency", needs: "log", look: findRepeated },
  { id: "retry", name: "Retry", needs: "traces", look: findBlindRetries },
  { id: "repair_loop", name: "Repair loop", needs: "log", look: findEndlessRepairs },
  {
    id: "observation_contract",
    name: "Observation contract",
    needs: "log",
    look: ofCalls(
      (call) => (hasRun(call) && isClass("OBSERVATION_NORMALIZATION_FAIL")(call)) || isGood(call),
      checkObservation,
    ),
  },
  { id: "compensation", name: "Compensation", needs: "log", look: findOpenUndo },
  {
    id: "prompt_injection",
    name: "Prompt injection",
    needs: "log",
    look: ofCalls(
      (call) => hasRun(call) && (call.after ?? []).length > 0,
      passedAll("data_flow", "approval"),
    ),
  },
  { id: "schema_drift", name: "Schema drift", needs: "contracts", look: findDrift },
  { id: "replay", name: "Replay", needs: "log", look: findIncomplete },
];

function isGood(call: AuditEntry): boolean {
  return call.outcome === "SUCCESS" && call.gates !== undefined && hasRun(call);
}

/** A call about which people were asked ran with their approval of exactly its payload, once. */
function checkApproval(call: AuditEntry, { entries }: EvaluatedRun): string | undefined {
  const about = entries.filter(({ invocationId }) => invocationId === call.invocationId);
  const of = (action: AuditEntry["action"]): readonly AuditEntry[] =>
    about.filter((entry) => entry.action === action);
  const used = of("approval.consumed");
  const asked = of("approval.requested");
  if (used.length === 0) {
    const isAnswered = of("approval.answered").length > 0;
    return asked.length > 0 && !isAnswered
      ? "people were asked, and it ran without them"
      : undefined;
  }
  const ids = used.map(({ approvalId }) => approvalId);
  if (new Set(ids).size < ids.length) return "it used one approval twice";
  const last = used.at(-1);
  const isApproved = of("approval.closed").some(
    ({ approvalId, decision }) => approvalId === last?.approvalId && decision === "approved",
  );
  if (!isApproved) return `nobody approved ${last?.approvalId}, and it ran`;
  const isSame = last?.payloadHash === undefined || last.payloadHash === call.payloadHash;
  return isSame ? undefined : `${last?.approvalId} was given for another payload`;
}

/** Each operation ends once, and no two completed calls of a run share their idempotency key. */
function findRepeated(run: EvaluatedRun): Looked {
  const calls = endedCalls(run).filter(({ invocationId }) => invocationId !== undefined);
  const seen = new Set<string | undefined>();
  const again = calls.filter(({ invocationId }) => seen.size === seen.add(invocationId).size);
  const keys = new Set<string>();
  const shared = (run.calls ?? []).filter(({ state, idempotencyKeyHash: key }) => {
    if (state !== "COMPLETED" || key === undefined) return false;
    return keys.size === keys.add(key).size;
  });
  return {
    looked: calls.length,
    faults: [
      ...again.flatMap((call) => faultOf(call, "it ended twice")),
      ...shared.map(({ invocationId }) => {
        const what = "it completed under the idempotency key of another call";
        return { runId: run.runId, invocationId, what };
      }),
    ],
  };
}

/** Retries follow failures that may pass by themselves. */
function findBlindRetries({ runId, calls = [], entries }: EvaluatedRun): Looked {
  const tried = calls.filter(({ dispatches }) => dispatches > 0);
  const faults = tried.flatMap(({ invocationId, dispatches }) => {
    const end = entries.findLast(
      (entry) => entry.action === "call.ended" && entry.invocationId === invocationId,
    );
    const isBlind = dispatches > 1 && end !== undefined && MENDED_BY_NOBODY(end);
    return isBlind
      ? [{ runId, invocationId, what: `it was tried ${dispatches} times and ended ${end.outcome}` }]
      : [];
  });
  return { looked: tried.length, faults };
}

/** After a tool was withdrawn, because the model did not mend its calls, it runs no more. */
function findEndlessRepairs(run: EvaluatedRun): Looked {
  const withdrawn = new Set<string>();
  const calls = endedCalls(run);
  const faults = calls.flatMap((call) => {
    const { toolId = "", reason } = call;
    if (reason === "tool_withdrawn") withdrawn.add(toolId);
    return faultOf(
      call,
      withdrawn.has(toolId) && hasRun(call) ? "it ran after its tool was withdrawn" : undefined,
    );
  });
  const mended = isClass(
    "SYNTACTIC_PARSE_FAIL",
    "STRUCTURAL_VIOLATION",
    "TYPE_MISMATCH",
    "OUT_OF_BOUNDS",
    "SEMANTIC_INVALIDITY",
    "BUDGET_EXHAUSTED",
  );
  return { looked: calls.filter(mended).length, faults };
}

function checkObservation(call: AuditEntry): string | undefined {
  if (call.outcome !== "SUCCESS") {
    return call.result ? "its output did not fit, and it was shown" : undefined;
  }
  return passedAll("output")(call, NO_RUN);
}

const NO_RUN: EvaluatedRun = { runId: "", entries: [] };

/** Each undo that began has ended, and one that failed waits for a person. */
function findOpenUndo(run: EvaluatedRun): Looked {
  const { entries } = run;
  const begun = entries.filter(({ action }) => action === "undo.started");
  const open = begun.filter(
    ({ invocationId }) =>
      !entries.some((one) => one.action === "undo.ended" && one.invocationId === invocationId),
  );
  const failed = endedCalls(run).filter(isClass("COMPENSATION_FAILED"));
  const alone = failed.filter(({ escalation }) => escalation === undefined);
  return {
    looked: begun.length + failed.length,
    faults: [
      ...open.flatMap((entry) => faultOf(entry, "its undo began and has no end")),
      ...alone.flatMap((entry) => faultOf(entry, "its undo failed, and no person was told")),
    ],
  };
}

/** What was called is what today's contracts say. */
function findDrift(run: EvaluatedRun, contracts: Evaluated["contracts"]): Looked {
  const calls = contracts.size === 0 ? [] : endedCalls(run).filter(hasRun);
  const faults = calls.flatMap((call) => {
    const { toolId, toolVersion, input, result } = call;
    const contract = contracts.get(`${toolId}@${toolVersion}`);
    if (!contract) return faultOf(call, `no contract ${toolId}@${toolVersion} exists today`);
    const unknown = [
      ...unknownFields(input, memberOf(contract["affordance"], "input_schema")),
      ...unknownFields(result, memberOf(contract["affordance"], "output_schema")),
    ];
    const what = `the contract has no field ${unknown.join(", ")} today`;
    return faultOf(call, unknown.length > 0 ? what : undefined);
  });
  return { looked: calls.length, faults };
}

/** Redaction leaves fields out, so a missing field tells nothing. */
function unknownFields(value: JsonObject | undefined, schema: unknown): readonly string[] {
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  if (!value || !isJsonObject(properties)) return [];
  return Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
}

/** The records hold what a replay needs, and the replay decided alike where one was made. */
function findIncomplete(run: EvaluatedRun): Looked {
  const { runId, entries, replay } = run;
  const calls = endedCalls(run);
  const lacking = calls.flatMap((call) => {
    const { toolVersion, wrapperVersion, policyHash, gates } = call;
    const isFound = hasRun(call);
    const isWhole =
      wrapperVersion !== undefined && (!isFound || (toolVersion && policyHash && gates));
    return faultOf(call, isWhole ? undefined : "its record lacks what a replay needs");
  });
  const has = (action: AuditEntry["action"]): boolean =>
    entries.some((entry) => entry.action === action);
  const whole = [
    ...(has("run.started") ? [] : [{ runId, what: "its start is not recorded" }]),
    ...(has("run.ended") ? [] : [{ runId, what: "its end is not recorded" }]),
    ...(replay === "different" ? [{ runId, what: "its replay decides otherwise" }] : []),
  ];
  return { looked: 1 + calls.length, faults: [...whole, ...lacking] };
}
