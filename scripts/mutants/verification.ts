import type { Mutant } from "./mutant.ts";

const STANDING = "src/run/undo/standing.ts";
const WHILE_UNDONE = "test/http/verification-undo.test.ts";
const HTTP = "test/http/verification.test.ts";

/** What makes sure that the state after a write is read, once it counts, and told to somebody. */
export const VERIFICATION: readonly Mutant[] = [
  {
    name: "the reference shows a withheld value of the output",
    file: "src/runner/verification/expect-state.ts",
    from: "reference: hideOutput(clean(replaceHalves(reference))),",
    to: "reference: clean(replaceHalves(reference)),",
    test: {
      file: HTTP,
      name: "the reference of a state shows nothing of an output that redaction withholds",
    },
  },
  {
    name: "a read that takes its incarnation with it is repeated for ever",
    file: "src/run/verification/run-verifications.ts",
    from: "if (attempts > RETRY_AFTER_MS.length + 1) return this.#end(number, NO_ANSWER);",
    to: "",
    test: {
      file: HTTP,
      name: "a contract that ends its incarnation in each read is unknown after three attempts",
    },
  },
  {
    name: "nothing plans the verification",
    file: "src/run/invocations.ts",
    from: "if (known.end ?? record.end?.verification) this.#onChanged();",
    to: "",
    test: { file: HTTP, name: "is read once the run has ended, and recorded" },
  },
  {
    name: "a risky write needs no verification",
    file: "src/contracts/check/consistency.ts",
    from: 'if (!isRead && isAtLeast(sideEffectClass, "HIGH_RISK_EXTERNAL")) {',
    to: "if (Math.random() > 1) {",
    test: { file: "test/contracts/check/consistency.test.ts", name: "that nobody verifies" },
  },
  {
    name: "a verification may write",
    file: "src/contracts/bind/bind-tool.ts",
    from: 'copyOf(context),\n          grant(context, scope, "ask"),',
    to: 'copyOf(context),\n          grant(context, scope, "act"),',
    test: { file: HTTP, name: "the contract tries to write" },
  },
  {
    name: "an answer of another kind counts as verified",
    file: "src/runner/verification/verify-call.ts",
    from: 'if (kind === "verified") return { kind };',
    to: 'if (kind !== "mismatch") return { kind: "verified" };',
    test: { file: HTTP, name: "lies about the kind" },
  },
  {
    name: "the expected state is not redacted",
    file: "src/runner/author-code/read-state.ts",
    from: "const shown = hide(tool.redactState(replaceHalves(state)));",
    to: "const shown = hide(replaceHalves(state));",
    test: { file: HTTP, name: "names the state that is verified, redacted" },
  },
  {
    name: "the reference shows a withheld argument",
    file: "src/runner/verification/expect-state.ts",
    from: "hideArguments(hide(tool.isOutputUntrusted ? neutralise(value).value : value));",
    to: "hide(tool.isOutputUntrusted ? neutralise(value).value : value);",
    test: { file: HTTP, name: "names the state that is verified, redacted" },
  },
  {
    name: "the model is not told of a mismatch",
    file: "src/loop/run-step.ts",
    from: "of mismatches?.takeAll() ?? []) {",
    to: "of []) {",
    test: {
      file: HTTP,
      name: "goes to the model while the run lives, as labelled data, and to nobody else",
    },
  },
  {
    name: "operators are not told of a mismatch",
    file: "src/run/notices/run-notices.ts",
    from: 'if (hasEnded && outcome === "mismatch") this.updated();',
    to: "",
    test: { file: HTTP, name: "is on the list of operators until one reviews it" },
  },
  {
    name: "a mismatch that the model knows is on the list too",
    file: "src/run/invocations.ts",
    from: 'if (verification?.outcome !== "mismatch" || verification.told) return false;',
    to: 'if (verification?.outcome !== "mismatch") return false;',
    test: {
      file: HTTP,
      name: "goes to the model while the run lives, as labelled data, and to nobody else",
    },
  },
  {
    name: "a write that was undone is verified all the same",
    file: STANDING,
    from: 'if (state !== "COMPLETED" || saga?.state === "COMPENSATED") return "undone";',
    to: 'if (saga?.state === "COMPENSATED") return "undone";',
    test: { file: HTTP, name: "reports no mismatch, also when the undo came during the read" },
  },
  {
    name: "a write is verified while it is being undone",
    file: STANDING,
    from: 'if (isTried) return "open";',
    to: "void isTried;",
    test: { file: WHILE_UNDONE, name: "is verified once people have refused the undo" },
  },
  {
    name: "a write that is being undone counts as undone",
    file: STANDING,
    from: 'if (isTried) return "open";',
    to: 'if (isTried) return "undone";',
    test: { file: WHILE_UNDONE, name: "is verified once people have refused the undo" },
  },
  {
    name: "what a failed undo left counts as undone",
    file: STANDING,
    from: '=== "running" || attempt?.status === "failed",',
    to: '=== "running",',
    test: {
      file: WHILE_UNDONE,
      name: "whose undo failed is known when an operator reports committed",
    },
  },
  {
    name: "an answer that was read during an undo counts",
    file: "src/run/verification/run-verifications.ts",
    from: 'if (standing !== "none") return;',
    to: "if (!now) return;",
    test: {
      file: WHILE_UNDONE,
      name: "is read again when an undo began during the read and was refused",
    },
  },
  {
    name: "the end of an undo plans no verification",
    file: "src/run/invocations.ts",
    from: '...(isUndone && { state: "COMPENSATED" }) });\n    this.#onChanged();',
    to: '...(isUndone && { state: "COMPENSATED" }) });',
    test: { file: WHILE_UNDONE, name: "is verified once people have refused the undo" },
  },
  {
    name: "a mismatch stays on the list after the write was undone",
    file: "src/run/invocations.ts",
    from: '&& this.undoStanding(record) !== "undone";',
    to: ";",
    test: {
      file: WHILE_UNDONE,
      name: "a mismatch of a write is on the list until the write is undone",
    },
  },
  {
    name: "the state of a step is read while its saga undoes it",
    file: STANDING,
    from: 'return isUndoing && !saga?.end ? "open" : "none";',
    to: 'void isUndoing;\n  return "none";',
    test: { file: WHILE_UNDONE, name: "is not read before it is known whether it is undone" },
  },
  {
    name: "a step is verified although its whole saga was undone",
    file: STANDING,
    from: ' || saga?.state === "COMPENSATED"',
    to: "",
    test: { file: WHILE_UNDONE, name: "after a person has undone the saga as a whole" },
  },
  {
    name: "an attempt is counted only once it is answered",
    file: "src/run/verification/run-verifications.ts",
    from: "invocations.verify(number, { attempts, nextAtMs: clock.nowMs() + delayMs });",
    to: "",
    test: { file: HTTP, name: "a crash during the read leads to another read and to one record" },
  },
  {
    name: "deleted data takes a planned verification with it",
    file: "durable-objects/run/run-lifecycle.ts",
    from: "this.#verifications.giveUp();",
    to: "",
    test: { file: HTTP, name: "holds back neither its run nor what is due later" },
  },
  {
    name: "a repeated write reaches another account",
    file: "src/runner/prepare.ts",
    from: "if (hasOtherTarget(binding, subject.authority)) return OTHER_TARGET;",
    to: "",
    test: {
      file: "test/http/repeated-writes.test.ts",
      name: "does not reach another account: an operator is asked",
    },
  },
  {
    name: "another account is asked what happened",
    file: "src/runner/recovery/ask-about-call.ts",
    from: "if (hasOtherTarget(bound, authority)) return undefined;",
    to: "",
    test: {
      file: "test/http/repeated-writes.test.ts",
      name: "does not reach another account: an operator is asked",
    },
  },
];
