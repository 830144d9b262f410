import type { Mutant } from "./mutant.ts";

const undone = (name: string): Mutant["test"] => ({ file: "test/http/undo.test.ts", name });

const attack = (name: string): Mutant["test"] => ({ file: "test/http/undo-attacks.test.ts", name });

const onPage = (name: string): Mutant["test"] => ({
  file: "test/widget/page-undo.node.test.ts",
  name,
});

/** What keeps an undo to one compensation, by those who may, of what is still there. */
export const UNDO: readonly Mutant[] = [
  {
    name: "a page undoes with a tool that its assistant does not use",
    file: "src/http/claim/read-allowed.ts",
    from: "narrowRun({ embed, assistant: assistant?.document })",
    to: "narrowRun({ embed })",
    test: attack("with a tool that its assistant does not use any more, and is not offered it"),
  },
  {
    name: "a page undoes with connections that its token does not bind",
    file: "src/run/undo/claim.ts",
    from: "return isInWorkspace && connectionIds.every(",
    to: "return isInWorkspace || connectionIds.every(",
    test: attack("of a page that has connections which it has not"),
  },
  {
    name: "a page undoes in a workspace that its token does not bind",
    file: "src/run/undo/claim.ts",
    from: "workspaceId === undefined || workspaceId === page.workspaceId",
    to: "workspaceId === undefined || workspaceId !== undefined",
    test: attack("in another workspace than its own"),
  },
  {
    name: "the arguments of an undo are edited",
    file: "src/run/approvals/edit.ts",
    from: "if (isUndoing(call) && payloadHash !== record.payloadHash) return UNDOES;",
    to: "void [isUndoing, UNDOES];",
    test: attack("an approver cannot make an undo take back something else"),
  },
  {
    name: "each click derives a run of its own",
    file: "src/run/undo/claim.ts",
    from: "const operation = `${runId}/${invocation}/${attempt}`;",
    to: "const operation = `${runId}/${invocation}/${attempt}/${clock.nowMs()}`;",
    test: undone("goes on refuses a second request, and names the run in the state"),
  },
  {
    name: "a refused undo keeps its claim",
    file: "src/protocol/invocation/undo.ts",
    from: 'return undo.status === "released" ? undo.attempt + 1 : undo.attempt;',
    to: "return undo.attempt;",
    test: undone("and is refused releases the call, so that a person may try again"),
  },
  {
    name: "a failed undo is released",
    file: "src/run/undo/standing.ts",
    from: 'return "failed";',
    to: 'return "released";',
    test: undone("is COMPENSATION_FAILED, is never repeated by a click, and an operator is told"),
  },
  {
    name: "a failed undo keeps the class of its tool",
    file: "src/runner/record.ts",
    from: "markFailedUndo(call, given)",
    to: "given",
    test: undone("is COMPENSATION_FAILED, is never repeated by a click, and an operator is told"),
  },
  {
    name: "an undo that found another state fails",
    file: "src/runner/undo/failed-undo.ts",
    from: 'if (outcome.failure.taxonomyClass === "STALE_STATE") return conclusion;',
    to: "",
    test: undone("because the row changed since is STALE_STATE, and stays so"),
  },
  {
    name: "an undone call keeps its state",
    file: "src/run/invocations.ts",
    from: '{ undo, ...(isUndone && { state: "COMPENSATED" }) }',
    to: "{ undo }",
    test: undone(
      "runs the tool that its contract names, with the arguments that were made when it completed",
    ),
  },
  {
    name: "everybody of the tenant undoes every call",
    file: "src/run/answers.ts",
    from: "checkRunAccess(this.#run.store, mayStop, viewer);\n    return missing ?? claimUndo",
    to: "checkRunAccess(this.#run.store, () => true, viewer);\n    return missing ?? claimUndo",
    test: undone("to neighbour exactly as for an unknown run"),
  },
  {
    name: "policy is not asked about the tool that undoes",
    file: "src/run/undo/claim.ts",
    from: 'if (!toolIds.includes(compensation.toolId)) return { kind: "not_allowed" };',
    to: "",
    test: undone(
      "when policy does not allow the tool that undoes the call, and is not offered then",
    ),
  },
  {
    name: "a page undoes with a tool that its token does not bind",
    file: "src/http/claim/read-allowed.ts",
    from: "narrowRun({ embed, assistant: assistant?.document })",
    to: "narrowRun({ assistant: assistant?.document })",
    test: undone("to a page whose token does not bind the tool that undoes the call"),
  },
  {
    name: "an undo that policy denies is offered",
    file: "src/http/runs/undo.ts",
    from: "isAvailable(call) && !allowed.includes(undo.toolId)",
    to: "false",
    test: undone(
      "when policy does not allow the tool that undoes the call, and is not offered then",
    ),
  },
  {
    name: "the run of another person tells that it exists",
    file: "src/http/runs/undo.ts",
    from: 'answer.status === 404 ? problem("undo_by_another") : answer',
    to: "answer",
    test: undone("an operator may undo the call of another person, who sees how it stands"),
  },
  {
    name: "the end of an undo does not reach the run whose call it undoes",
    file: "durable-objects/run/stored-journal.ts",
    from: "call ? call.undoes !== undefined :",
    to: "call ? false :",
    test: undone(
      "runs the tool that its contract names, with the arguments that were made when it completed",
    ),
  },
  {
    name: "an operator cannot resolve a failed undo",
    file: "src/run/undo/claim.ts",
    from: 'if (record?.undo?.status !== "failed") return undefined;',
    to: "if (record) return undefined;",
    test: undone("and of which an operator reports committed is undone"),
  },
  {
    name: "a failed undo is on no list",
    file: "src/run/notices/run-notices.ts",
    from: "[...awaiting, ...failedUndos, ...mismatches]",
    to: "[...awaiting, ...mismatches]",
    test: undone("is COMPENSATION_FAILED, is never repeated by a click, and an operator is told"),
  },
  {
    name: "the button stays when the call cannot be undone any more",
    file: "src/widget/chat/undo-view.ts",
    from: 'this.#button.hidden = status !== "available";',
    to: "this.#button.hidden = false;",
    test: onPage("says in words that it is stale"),
  },
  {
    name: "two clicks ask for an undo twice",
    file: "src/widget/chat/undo-view.ts",
    from: 'if (this.#last === "running") return;',
    to: "",
    test: onPage("is asked for once by two clicks"),
  },
  {
    name: "the page does not look again at an undo that goes on",
    file: "src/widget/chat/undo-desk.ts",
    from: "if (isGoingOn) this.#lookAgain(LOOK_AGAIN_MS);",
    to: "",
    test: onPage(
      "says that nothing was undone when its approval is refused, and may be asked for again",
    ),
  },
];
