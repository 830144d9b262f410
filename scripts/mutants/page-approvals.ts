import type { Mutant } from "./mutant.ts";

/** What keeps the approvals page and approval cards honest. */
export const PAGE_APPROVALS: readonly Mutant[] = [
  {
    name: "an approval that is over is not read again",
    file: "src/widget/approval/tracker.ts",
    from: "if (this.#polls <= MAX_POLLS) void this.read();\n    } else",
    to: "void this.#polls;\n    } else",
    test: {
      file: "test/widget/page-approval.node.test.ts",
      name: "reads its end from the server when its time is up and no stream reports it",
    },
  },
  {
    name: "a reader approves the same arguments twice",
    file: "src/widget/approval/form.ts",
    from: 'mayDecide && (said !== "approve" || this.#isEditing)',
    to: "mayDecide && (!said || Boolean(said))",
    test: {
      file: "test/widget/page-approval.node.test.ts",
      name: "that the reader approved can only be edited or rejected, not approved again",
    },
  },
  {
    name: "the buttons of an approval work at once",
    file: "src/widget/approval/form.ts",
    from: "const isReady = this.#isArmed && !this.#isSending;",
    to: "const isReady = !this.#isSending;",
    test: {
      file: "test/widget/page-decision.node.test.ts",
      name: "is not made by a click or key that was meant for something else",
    },
  },
  {
    name: "a critical call is approved without its name",
    file: "src/widget/approval/form.ts",
    from: "const isSure = !isCritical || confirm.input.value === toolId;",
    to: "const isSure = true;",
    test: {
      file: "test/widget/page-decision.node.test.ts",
      name: "about a critical call needs the typed name of the tool",
    },
  },
  {
    name: "a compliance reviewer gives no reason",
    file: "src/widget/approval/form.ts",
    from: 'const needsReason = pattern === "compliance" && mayApprove;',
    to: "const needsReason = pattern === undefined && mayApprove;",
    test: {
      file: "test/widget/page-decision.node.test.ts",
      name: "of a compliance reviewer needs a reason",
    },
  },
  {
    name: "the page asks whether a call with a mismatch happened",
    file: "src/widget/approval/outcome-section.ts",
    from: "if (mismatch) return OF_MISMATCH;",
    to: "void mismatch;",
    test: {
      file: "test/widget/approvals-outcomes.node.test.ts",
      name: "shows what was expected and found after a completed call, and takes that somebody looked",
    },
  },
  {
    name: "a call that was reported is never shown again",
    file: "src/widget/approval/outcome-section.ts",
    from: "`${runId}/${invocationId}/${untilMs}`",
    to: '`${runId}/${invocationId}${untilMs && ""}`',
    test: {
      file: "test/widget/approvals-outcomes.node.test.ts",
      name: "shows a call again whose undo failed again after the report",
    },
  },
  {
    name: "the page does not name the steps that a saga left",
    file: "src/widget/approval/outcome-section.ts",
    from: "  if (saga) {",
    to: "  if (saga && untilMs < 0) {",
    test: {
      file: "test/widget/approvals-outcomes.node.test.ts",
      name: "names the saga that could not undo a step, and the other steps that stay",
    },
  },
  {
    name: "the address is read only before the reader signed in",
    file: "src/widget/approval/view.ts",
    from: "if (isSignedIn && !this.#hasOpenedNamed)",
    to: "if (!this.#hasOpenedNamed)",
    test: {
      file: "test/widget/approvals-page.node.test.ts",
      name: "opens the approval that the address names after the reader signed in",
    },
  },
  {
    name: "the list keeps an approval that another one replaced",
    file: "src/widget/approval/view.ts",
    from: "this.#list.replace(this.#openId, news);",
    to: "",
    test: {
      file: "test/widget/approvals-page.node.test.ts",
      name: "follows the open approval to its successor, which starts without votes",
    },
  },
  {
    name: "every approval can be decided together with others",
    file: "src/widget/approval/list.ts",
    from: 'const isBulk = pattern === "async_review" && riskClass !== "CRITICAL_MUTATION";',
    to: 'const isBulk = `${pattern}${riskClass}` !== "";',
    test: {
      file: "test/widget/approvals-page.node.test.ts",
      name: "is possible for bulk review of calls that are not critical",
    },
  },
  {
    name: "older news reopens a decided approval",
    file: "src/widget/approval/info.ts",
    from: 'if (known.status !== "pending" && news.status === "pending") return known;',
    to: "",
    test: {
      file: "test/widget/chat/apply-chunk.test.ts",
      name: "stays decided when older news arrives later",
    },
  },
  {
    name: "a decision on a card does not hurry the chat",
    file: "src/widget/chat/log.ts",
    from: "isStreamed: true, onChange: onApprovalChange }",
    to: "isStreamed: true, onChange: () => {} }",
    test: {
      file: "test/widget/page-approval.node.test.ts",
      name: "holds no connection while people decide, and returns at once after the reader's decision",
    },
  },
];
