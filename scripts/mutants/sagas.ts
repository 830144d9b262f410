import type { Mutant } from "./mutant.ts";

const ATTACKS = "test/http/saga-attacks.test.ts";
const HTTP = "test/http/sagas.test.ts";
const OUTCOMES = "test/http/saga-outcomes.test.ts";
const PREVIEWS = "test/http/saga-previews.test.ts";
const REGISTRATION = "test/contracts/define/saga.test.ts";

/** What keeps a saga whole: its order, its records, its undoing and its approvals. */
export const SAGAS: readonly Mutant[] = [
  {
    name: "the state of a run shows how a step would be undone",
    file: "src/run/state.ts",
    from: "...(undo && { undo }),",
    to: "...(undo && { undo, ...(end?.compensation as object) }),",
    test: {
      file: "test/http/step-secrecy.test.ts",
      name: "what the steps of a saga and their undoing know of a PIN never leaves the run's object",
    },
  },
  {
    name: "a promise becomes the arguments of a step",
    file: "src/runner/author-code/write-arguments.ts",
    from: "if (prototype !== Object.prototype && prototype !== null) return undefined;",
    to: "void prototype;",
    test: { file: ATTACKS, name: "a saga whose arguments of a step are wrong (promise) is undone" },
  },
  {
    name: "a promise becomes the arguments of an undo",
    file: "src/runner/author-code/write-arguments.ts",
    from: "if (prototype !== Object.prototype && prototype !== null) return undefined;",
    to: "void prototype;",
    test: {
      file: ATTACKS,
      name: "a call whose compensate is wrong (promise) is never undone by guess",
    },
  },
  {
    name: "a pivot with an unknown outcome is taken for one that did not happen",
    file: "src/runner/saga/run-saga.ts",
    from: "const isUnknownPivot = failed.isPivot && isUnknown(failed);",
    to: "const isUnknownPivot = failed.isPivot && !isUnknown(failed);",
    test: {
      file: ATTACKS,
      name: "what was made before a step that cannot be undone stays when the outcome of that step is unknown",
    },
  },
  {
    name: "a stopped run ends a saga as if nobody knew of it",
    file: "src/runner/recovery/resume-call.ts",
    from: "return found.ok && found.value.saga ? found.value : undefined;",
    to: "return found.ok && found.value.saga && Math.random() > 1 ? found.value : undefined;",
    test: { file: ATTACKS, name: "is undone when the run is cancelled" },
  },
  {
    name: "a saga that goes on passes its own gates again",
    file: "src/runner/tool-runner.ts",
    from: "const isResumed = isRunningSaga(ports, call);",
    to: "const isResumed = isRunningSaga(ports, call) && Math.random() > 1;",
    test: {
      file: ATTACKS,
      name: "goes on, after a crash too, when policy takes the saga itself back",
    },
  },
  {
    name: "a step that can be undone may come after one that cannot",
    file: "src/contracts/check/check-saga.ts",
    from: "if (versions.some(isPivot)) pivot = tool;",
    to: "void isPivot; pivot = undefined;",
    test: { file: REGISTRATION, name: "a step that can be undone after one that cannot" },
  },
  {
    name: "a saga hides a step of a higher class",
    file: "src/contracts/check/check-saga.ts",
    from: "if (classes.indexOf(saga.sideEffectClass) < classes.indexOf(sideEffectClass)) {",
    to: "if (false) {",
    test: { file: REGISTRATION, name: "a step of a higher class" },
  },
  {
    name: "a failure undoes nothing",
    file: "src/runner/saga/run-saga.ts",
    from: "const left = isUnknownPivot ? made : await undoSteps(ports, saga, made);",
    to: "const left = isUnknownPivot || made.length > 0 ? [] : await undoSteps(ports, saga, made);",
    test: { file: HTTP, name: "a step that fails undoes the steps before it, the last one first" },
  },
  {
    name: "the first step is undone first",
    file: "src/runner/saga/run-saga.ts",
    from: "[...written.entries()].toReversed()",
    to: "[...written.entries()]",
    test: { file: HTTP, name: "a step that fails undoes the steps before it, the last one first" },
  },
  {
    name: "what happened before a pivot is undone after the pivot",
    file: "src/runner/saga/run-saga.ts",
    from: "if (toolId === undefined || !args) return stay();",
    to: "if (toolId === undefined || !args) continue;",
    test: {
      file: HTTP,
      name: "what happened before a step that cannot be undone stays when a later step fails",
    },
  },
  {
    name: "a failed compensation does not stop the undoing",
    file: "src/runner/saga/run-saga.ts",
    from: "      return stay(failureOf(ended));",
    to: "      continue;",
    test: {
      file: HTTP,
      name: "a compensation that fails stops the undoing, and the steps that stay are named",
    },
  },
  {
    name: "a saga's failed compensation is on no list",
    file: "src/runner/saga/run-saga.ts",
    from: "ports.invocations.undoFailed(record, { runId: saga.context.runId, untilMs });",
    to: "void untilMs;",
    test: {
      file: OUTCOMES,
      name: "is on the list of operators, with the saga and the other steps that stay",
    },
  },
  {
    name: "the list does not say which other steps of a saga stay",
    file: "src/run/outcomes/awaited.ts",
    from: "stays: stays.map(nameCall)",
    to: "stays: stays.slice(9).map(nameCall)",
    test: {
      file: OUTCOMES,
      name: "is on the list of operators, with the saga and the other steps that stay",
    },
  },
  {
    name: "a click undoes what a saga left, before an operator has looked",
    file: "src/run/undo/claim.ts",
    from: '(record.undo?.runId === runId && record.undo.status !== "released");',
    to: "false;",
    test: { file: OUTCOMES, name: "is not undone by a person before an operator has looked" },
  },
  {
    name: "a cancelled saga makes its other steps",
    file: "src/runner/saga/run-saga.ts",
    from: "if (saga.signal.aborted || isBeingUndone(ports, saga)) return STOPPED;",
    to: "void [isBeingUndone, STOPPED];",
    test: {
      file: HTTP,
      name: "lets the running step end, makes no other one and undoes what was made",
    },
  },
  {
    name: "a model's call may have the id of a step",
    file: "src/loop/call-ids.ts",
    from: "findSecret(wanted) === undefined && !isStepCallId(wanted)",
    to: "findSecret(wanted) === undefined && (!isStepCallId(wanted) || true)",
    test: { file: HTTP, name: "a model's call that has the id of a step is another call" },
  },
  {
    name: "the approval of a saga covers a step whose payload it did not show",
    file: "src/runner/approval/covered-by-saga.ts",
    from: "if (!isShown || shown.payload?.fingerprint !== fingerprint) return false;",
    to: "void [isShown, fingerprint];",
    test: {
      file: HTTP,
      name: "covers the step whose payload it showed; a step whose payload was not known asks itself",
    },
  },
  {
    name: "the approval of a saga covers a step for which policy asks",
    file: "src/runner/approval/covered-by-saga.ts",
    from: "if (policies.some((policy) => requirementOf(policy, asNotAsked))) return false;",
    to: "void [policies, requirementOf, asNotAsked];",
    test: { file: HTTP, name: "covers no step for which policy asks on its own" },
  },
  {
    name: "the preview of a saga may write",
    file: "src/contracts/bind/bind-tool.ts",
    from: 'executable.preview?.(copyOf(args), copyOf(context), grant(context, scope, "ask")),',
    to: 'executable.preview?.(copyOf(args), copyOf(context), grant(context, scope, "act")),',
    test: {
      file: PREVIEWS,
      name: "says that the state is not known when the preview tries to write, and nothing is written",
    },
  },
  {
    name: "a saga checks no state",
    file: "src/contracts/bind/bind-tool.ts",
    from: "executable.checkState\n        ? exec",
    to: "executable.checkState && !contract.saga\n        ? exec",
    test: {
      file: PREVIEWS,
      name: "does not let the saga run on a state that has changed meanwhile",
    },
  },
  {
    name: "the preview of a saga is shown whole",
    file: "src/runner/approval/preview-states.ts",
    from: "return plain && showState({ tool, hide: scope.hide }, plain);",
    to: "return plain;",
    test: {
      file: PREVIEWS,
      name: "shows what its preview read in the workspace, redacted, before any step is made",
    },
  },
  {
    name: "an approval does not say in which workspace the call acts",
    file: "src/runner/approval/build-packet.ts",
    from: "...(workspaceId !== undefined && { workspaceId }),",
    to: "",
    test: {
      file: PREVIEWS,
      name: "the approval of lab__keep_item names the workspace where it acts",
    },
  },
  {
    name: "a saga has no workspace of its own",
    file: "src/contracts/define/define-saga.ts",
    from: "tool.workspace ?? listed.find((step) => step.tool.workspace)?.tool.workspace;",
    to: "tool.workspace ?? undefined;",
    test: {
      file: "test/contracts/define/saga.test.ts",
      name: "a saga reads the workspace of its first step that has one, unless it names another",
    },
  },
  {
    name: "a step runs without its own gate of policy",
    file: "src/runner/prepare.ts",
    from: "const terms: Terms = { policy: ports.policy, pin: ports.pin };",
    to: "const isDenied = toolCall.saga && !ports.policy.allowedTools.some(({ id }) => id === tool.id);\n  const allowedTools = [...ports.policy.allowedTools, ...(isDenied ? [{ id: tool.id }] : [])];\n  const terms = { policy: { ...ports.policy, allowedTools }, pin: ports.pin } as Terms;",
    test: {
      file: "test/http/sagas.test.ts",
      name: "a step that policy denies is not made, and what a step undoes needs policy too",
    },
  },
];
