import type { Mutant } from "./mutant.ts";

/** What the runner does around each call: gates, retries and unknown outcomes. */
export const RUNNER: readonly Mutant[] = [
  {
    name: "a key that is in use counts as a write that did not happen",
    file: "src/protocol/outcome/response-vector.ts",
    from: '  "IDEMPOTENCY_CONFLICT",\n] satisfies',
    to: "] satisfies",
    test: {
      file: "test/runner/http-tools.test.ts",
      name: "a key that stays in use leaves the outcome unknown",
    },
  },
  {
    name: "an ended operation is dispatched again",
    file: "src/runner/invocation/invocation-ledger.ts",
    from: "if (record.end) throw new Error(`${operationIdOf(operation)} has ended`);",
    to: "",
    test: {
      file: "test/runner/invocation-ledger.test.ts",
      name: "an ended operation refuses: dispatch",
    },
  },
  {
    name: "an attempt that timed out counts as ended",
    file: "src/runner/recovery/unknown-outcome.ts",
    from: 'return kind === "not_committed" && isAbandoned && !tool.isIdempotent;',
    to: "return isAbandoned && kind === undefined;",
    test: {
      file: "test/runner/recovery/reconcile.test.ts",
      name: "a write that reconcile finds not committed runs again with its key, except after a timeout",
    },
  },
  {
    name: "other arguments get the outcome of the first ones",
    file: "src/runner/invocation/invocation-ledger.ts",
    from: " &&\n    headOf(call.argumentsText) === record.argumentsText",
    to: "",
    test: {
      file: "test/runner/recovery/repeated-operation.test.ts",
      name: "with other arguments is refused and does not change it",
    },
  },
  {
    name: "another tool gets the outcome of the first one",
    file: "src/runner/invocation/invocation-ledger.ts",
    from: "call.name === record.name &&",
    to: "",
    test: {
      file: "test/runner/recovery/repeated-operation.test.ts",
      name: "with another tool is refused and does not change it",
    },
  },
  {
    name: "the answer to the last attempt counts for all attempts",
    file: "src/runner/retry/decide-next.ts",
    from: "return isUnknown ? outcome.failure : call.unknownOutcome;",
    to: "return isUnknown ? outcome.failure : undefined;",
    test: {
      file: "test/runner/recovery/unknown-outcome.test.ts",
      name: "the later attempt is forbidden",
    },
  },
  {
    name: "a write that may have happened is retried without a key",
    file: "src/protocol/outcome/response-vector.ts",
    from: "const mayRepeat = !state.dispatched || !state.mutates || state.isIdempotent;",
    to: "const mayRepeat = true;",
    test: {
      file: "test/runner/retry/decide-next.test.ts",
      name: "is not retried and waits for an operator",
    },
  },
  {
    name: "a write is repeated for ever",
    file: "src/runner/retry/decide-next.ts",
    from: "Math.min(dispatchedAtMs + tool.retryForMs, endsAtMs())",
    to: "Math.min(clock.nowMs() + tool.retryForMs, endsAtMs())",
    test: {
      file: "test/runner/retry/repeated-writes.test.ts",
      name: "after the contract's time a person is asked, and not before",
    },
  },
  {
    name: "a hook gets the call itself",
    file: "src/runner/gates/ask-hooks.ts",
    from: "frozenCopyOf(hookedCall(tool, authority.context, accepted.shown))",
    to: "hookedCall(tool, authority.context, accepted.shown)",
    test: {
      file: "test/http/hostile-authors.test.ts",
      name: "hooks change nothing for the next hook, for approvers, for the tool or for the model",
    },
  },
  {
    name: "a hook gets the outcome itself",
    file: "src/runner/gates/ask-hooks.ts",
    from: "frozenCopyOf([call, seen] as const)",
    to: "[call, seen] as const",
    test: {
      file: "test/http/hostile-authors.test.ts",
      name: "hooks change nothing for the next hook, for approvers, for the tool or for the model",
    },
  },
  {
    name: "the context hook gets the caller itself",
    file: "src/loop/load-context.ts",
    from: "...frozenCopyOf({",
    to: "...({",
    test: {
      file: "test/http/hostile-authors.test.ts",
      name: "the context hook changes neither the caller for whom the run acts, nor the caller's rights",
    },
  },
  {
    name: "a check of the state gets the arguments themselves",
    file: "src/contracts/bind/bind-tool.ts",
    from: "executable.checkState(copyOf(args), copyOf(context)",
    to: "executable.checkState(args, context",
    test: {
      file: "test/http/hostile-authors.test.ts",
      name: "change nothing for the next function, for approvers, or for the context of the tool",
    },
  },
  {
    name: "a rule gets the arguments themselves",
    file: "src/contracts/bind/bind-tool.ts",
    from: "rule.holds(copyOf(args))",
    to: "rule.holds(args)",
    test: {
      file: "test/http/hostile-authors.test.ts",
      name: "change nothing for the next function, for approvers, or for the context of the tool",
    },
  },
  {
    name: "a check of the state gets the context itself",
    file: "src/contracts/bind/bind-tool.ts",
    from: "executable.checkState(copyOf(args), copyOf(context)",
    to: "executable.checkState(copyOf(args), context",
    test: {
      file: "test/http/hostile-authors.test.ts",
      name: "change nothing for the next function, for approvers, or for the context of the tool",
    },
  },
  {
    name: "a tool replaces a function of a capability for others",
    file: "src/contracts/bind/bind-tool.ts",
    from: "    defineProperty: refuse,\n",
    to: "",
    test: {
      file: "test/http/hostile-authors.test.ts",
      name: "change nothing for the next function, for approvers, or for the context of the tool",
    },
  },
];
