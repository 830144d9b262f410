import type { Mutant } from "./mutant.ts";

const UNIT = "test/workspace/operations.node.test.ts";
const HTTP = "test/http/workspaces.test.ts";
const ATTACKS = "test/http/workspace-attacks.test.ts";
const CHANGES = "test/http/workspace-changes.test.ts";
const CONTEXT = "test/http/context-workspace.test.ts";
const CRASHES = "test/http/workspace-crashes.test.ts";

/** What keeps business data whole, once, and with its members. */
export const WORKSPACES: readonly Mutant[] = [
  {
    name: "a repeated key runs again",
    file: "src/workspace/workspace-data.ts",
    from: "      if (known) {",
    to: "      if (false && known) {",
    test: { file: UNIT, name: "answers a repeated key with the stored result, and runs nothing" },
  },
  {
    name: "another payload under a key gets the stored result",
    file: "src/workspace/workspace-data.ts",
    from: "const isSame = known.payloadHash === payloadHash;",
    to: "const isSame = true;",
    test: {
      file: UNIT,
      name: "refuses another payload under a key, and says whether the key has changed anything",
    },
  },
  {
    name: "a refused key counts as a change",
    file: "src/workspace/workspace-data.ts",
    from: 'return isDone ? "changed" : "unchanged";',
    to: 'return "changed";',
    test: {
      file: CRASHES,
      name: "a run that crashes after a refused write learns the refusal, and asks nobody",
    },
  },
  {
    name: "a failed operation keeps what it changed",
    file: "src/workspace/run-operation.ts",
    from: "({ result }: Ran) => result.ok && mayKeep",
    to: "({ result }: Ran) => true || (result.ok && mayKeep)",
    test: {
      file: HTTP,
      name: "an operation that fails, throws, or answers wrongly changes nothing",
    },
  },
  {
    name: "a read keeps what it changed",
    file: "src/workspace/run-operation.ts",
    from: 'const mayKeep = operation.kind === "write";',
    to: "const mayKeep = true;",
    test: { file: HTTP, name: "a read-only tool cannot write, and a read changes nothing" },
  },
  {
    name: "a result that does not fit is kept",
    file: "src/workspace/run-operation.ts",
    from: 'return { ...refuseResult(operation, "does not fit its output schema"), mismatch };',
    to: "return { result: ok(answer.value as JsonObject), isFinal: true };",
    test: {
      file: HTTP,
      name: "an operation that fails, throws, or answers wrongly changes nothing",
    },
  },
  {
    name: "arguments of an operation are not checked",
    file: "src/workspace/run-operation.ts",
    from: "if (!input.success) return",
    to: "if (false && !input.success) return",
    test: {
      file: HTTP,
      name: "an unknown operation and arguments that do not fit are typed failures",
    },
  },
  {
    name: "a late call acts",
    file: "src/workspace/workspace-data.ts",
    from: "if (this.#ports.nowMs() > deadlineMs) return fail(refusals.TOO_LATE);",
    to: "",
    test: { file: UNIT, name: "after its deadline does nothing" },
  },
  {
    name: "arguments of any length are accepted",
    file: "src/workspace/workspace-data.ts",
    from: "if (isTooLong(args)) return { result: fail(refusals.ARGUMENTS_TOO_LONG) };",
    to: "",
    test: { file: UNIT, name: "whose arguments are too long is refused" },
  },
  {
    name: "a call without a key may write",
    file: "src/workspace/workspace-data.ts",
    from: 'if (found.value.kind === "write") return fail(refusals.NO_KEY);',
    to: "",
    test: { file: UNIT, name: "that may only read cannot name a write" },
  },
  {
    name: "a read-only tool gets a key",
    file: "src/contracts/bind/bind-tool.ts",
    from: 'const mayWrite = purpose === "act" && effect !== "read_only";',
    to: 'const mayWrite = true || (purpose === "act" && effect !== "read_only");',
    test: { file: HTTP, name: "a read-only tool cannot write, and a read changes nothing" },
  },
  {
    name: "ledger rows go with the retention of their key",
    file: "src/workspace/workspace-data.ts",
    from: "const MARGIN_MS = 86_400_000;",
    to: "const MARGIN_MS = 0;",
    test: { file: UNIT, name: "outlives the retention of its key by a day, and is then removed" },
  },
  {
    name: "ledger rows stay for ever",
    file: "src/workspace/ledger.ts",
    from: "if (kept !== 0 && last) {",
    to: "if (false && last) {",
    test: { file: UNIT, name: "outlives the retention of its key by a day, and is then removed" },
  },
  {
    name: "migrations of one version are no transaction",
    file: "src/workspace/open-tables.ts",
    from: "  database.transaction(() => {\n    for (const [index, migration]",
    to: "  ((run: () => void) => run())(() => {\n    for (const [index, migration]",
    test: { file: UNIT, name: "that fail leave the old data, and a refusal that names no SQL" },
  },
  {
    name: "code opens tables of another layout",
    file: "src/workspace/open-tables.ts",
    from: "if (layout !== LAYOUT) {",
    to: "if (layout > Infinity) {",
    test: {
      file: "test/durable-objects/storage-versions.test.ts",
      name: "a workspace of layout 99 is refused by code that cannot read it",
    },
  },
  {
    name: "everybody is a member",
    file: "src/protocol/policy/membership.ts",
    from: "return isActorIn && isSubjectIn;",
    to: "return true || (isActorIn && isSubjectIn);",
    test: {
      file: ATTACKS,
      name: "a member of one workspace does not reach another one of the same tenant",
    },
  },
  {
    name: "the person for whom an actor acts need not be a member",
    file: "src/protocol/policy/membership.ts",
    from: "return isActorIn && isSubjectIn;",
    to: "return isActorIn || !isSubjectIn;",
    test: {
      file: ATTACKS,
      name: "an actor who acts for another person needs that both are members",
    },
  },
  {
    name: "a workspace of the prototype exists",
    file: "src/protocol/policy/membership.ts",
    from: "const members = Object.hasOwn(workspaces, workspaceId) ? workspaces[workspaceId] : undefined;",
    to: "const members = workspaces[workspaceId];",
    test: {
      file: ATTACKS,
      name: "somebody who is no member reads and writes nothing, whatever id the request names",
    },
  },
  {
    name: "tenants share a workspace of one id",
    file: "src/protocol/workspace/address.ts",
    from: "return JSON.stringify([name, tenantId, id]);",
    to: "return JSON.stringify([name, tenantId && id]);",
    test: {
      file: ATTACKS,
      name: "a workspace is what its tenant and its id name: another tenant's rows are out of reach",
    },
  },
  {
    name: "a member of two workspaces gets the first one",
    file: "src/protocol/policy/membership.ts",
    from: "return others.length === 0 ? only : undefined;",
    to: "return others.length >= 0 ? only : undefined;",
    test: { file: ATTACKS, name: "a member of two workspaces has to name one" },
  },
  {
    name: "the gate asks for no membership",
    file: "src/runner/gates/authorise.ts",
    from: 'if (tool.usesWorkspace && workspaceId === undefined) return deny("no_workspace");',
    to: "",
    test: {
      file: ATTACKS,
      name: "somebody who is no member reads and writes nothing, whatever id the request names",
    },
  },
  {
    name: "an embed token names any workspace",
    file: "src/http/claim/refuse-unbound.ts",
    from: "if (embed && workspaceId !== undefined && workspaceId !== embed.workspaceId) {",
    to: "if (false) {",
    test: { file: ATTACKS, name: "names no other workspace than the one that it binds" },
  },
  {
    name: "the stream of changes asks for no membership",
    file: "src/protocol/policy/membership.ts",
    from: "if (!hasTool || !isMember(policy, workspaceId, follower)) return false;",
    to: "if (!hasTool) return false;",
    test: { file: CHANGES, name: "are not found for a workspace of others" },
  },
  {
    name: "a page follows a workspace of which it has no tool",
    file: "src/http/workspaces/workspace-list.ts",
    from: " && (embed?.toolIds.includes(spec.name) ?? true)",
    to: "",
    test: {
      file: CHANGES,
      name: "a page without a tool of the workspace reads none of its changes, and does not see it",
    },
  },
  {
    name: "one page takes all places of the readers of a workspace",
    file: "durable-objects/workspace/change-feed.ts",
    from: "return own.length >= MAX_READERS_OF_ACTOR;",
    to: "return false && own.length >= MAX_READERS_OF_ACTOR;",
    test: {
      file: CHANGES,
      name: "one page takes eight places, and leaves the others to its person and to members",
    },
  },
  {
    name: "a workspace is not told of a removed member",
    file: "src/http/tenant/policy.ts",
    from: "await services.membersChanged?.(principal.tenantId, ids);",
    to: "",
    test: {
      file: CHANGES,
      name: "a member who is removed loses the stream with the change of the policy",
    },
  },
  {
    name: "a change is sent without a look at the current policy",
    file: "durable-objects/workspace/change-feed.ts",
    from: "      await this.recheck();\n",
    to: "",
    test: {
      file: CHANGES,
      name: "a page hears of no further change when its origin was removed",
    },
  },
  {
    name: "the object of a workspace opens a stream for somebody who is no member",
    file: "durable-objects/workspace/change-feed.ts",
    from: 'if (!mayFollow(policy, address.workspaceId, follower)) return fail("workspace_not_found");',
    to: "",
    test: {
      file: CHANGES,
      name: "the object asks the current policy, whatever its caller has checked",
    },
  },
  {
    name: "a stream of changes has no beginning",
    file: "durable-objects/workspace/change-feed.ts",
    from: '? missed.map(formatChange).join("")',
    to: '? ""',
    test: { file: CHANGES, name: "are resumed after the last one that arrived" },
  },
  {
    name: "a write that the ledger refused is left to an operator",
    file: "src/runner/retry/decide-next.ts",
    from: ' || write === "unchanged") return undefined;',
    to: ") return undefined;",
    test: {
      file: CRASHES,
      name: "a run that crashes after a refused write learns the refusal, and asks nobody",
    },
  },
  {
    name: "a write of the ledger that nobody reported is left to an operator",
    file: "src/runner/retry/decide-next.ts",
    from: 'return result.write === "changed"',
    to: "return false",
    test: {
      file: CRASHES,
      name: "a tool that breaks after its write ends as done, without an operator",
    },
  },
  {
    name: "the context hook reads for a member whom the policy removed meanwhile",
    file: "src/loop/context-workspace.ts",
    from: "return isOpen(current.value.policy) ? answer",
    to: "return isOpen(pinned) ? answer",
    test: {
      file: CONTEXT,
      name: "the hook reads nothing for a member who was removed after the run began",
    },
  },
  {
    name: "the context hook reads for a member whom the policy of the run does not know",
    file: "src/loop/context-workspace.ts",
    from: "if (!isOpen(pinned)) return",
    to: "if (false) return",
    test: {
      file: CONTEXT,
      name: "the hook reads nothing for a member who was added after the run began",
    },
  },
  {
    name: "a verification has no workspace",
    file: "src/run/verification/verify-write.ts",
    from: "workspaceId: binding.workspaceId,",
    to: "",
    test: { file: HTTP, name: "the state after a write is read in the workspace of the write" },
  },
  {
    name: "the context hook reads a workspace of which the run has no tool",
    file: "src/loop/context-workspace.ts",
    from: " && toolIds.some((id) => entryOf(policy, id))",
    to: "",
    test: {
      file: CONTEXT,
      name: "the hook reads no workspace of which the run has no tool",
    },
  },
  {
    name: "a changed migration that ran is accepted",
    file: "src/workspace/open-tables.ts",
    from: "if (changed !== -1) {",
    to: "if (false) {",
    test: { file: UNIT, name: "that ran and have another text are refused, and named" },
  },
  {
    name: "the runs of a test write under the same keys",
    file: "src/testing/test-host.ts",
    from: "{ key: `${this.#run} ${call.key}` }",
    to: "{ key: call.key }",
    test: {
      file: "test/testing/workspaces.node.test.ts",
      name: "two runs of a test that make the same call write twice, and the next run reads both",
    },
  },
  {
    name: "a seed that lost its record loads its rows again",
    file: "cli/seed/send-row.ts",
    from: "JSON.stringify([toolId, workspaceId ?? null, name, refusals])",
    to: "crypto.randomUUID()",
    test: {
      file: "test/e2e/seed.node.test.ts",
      name: "a lost record doubles nothing, also when the file got more rows at its front",
    },
  },
];
