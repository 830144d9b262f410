import type { CodeBlock } from "./code-blocks.ts";

/** What the product sends, and the bodies of single routes: held against their types. */
const TYPED: readonly { readonly file: string; readonly has: string; readonly type: string }[] = [
  {
    file: "docs/audit.md",
    has: '"seq"',
    type: 'import("ROOT/src/protocol/audit/chain.ts").AuditRecord',
  },
  {
    file: "docs/audit.md",
    has: '"calls.refused"',
    type: 'import("ROOT/src/protocol/audit/entry.ts").AuditEntry',
  },
  {
    file: "docs/audit.md",
    has: '"removed"',
    type: '{ removed: import("ROOT/src/protocol/audit/removed.ts").SignedRemoval }',
  },
  {
    file: "docs/audit.md",
    has: '"checkpoint"',
    type: 'import("ROOT/src/protocol/audit/chain.ts").SegmentEnd',
  },
  {
    file: "docs/audit.md",
    has: '"outcome": "different"',
    type: '{ runId: string; outcome: string } & import("ROOT/src/protocol/run/replay.ts").ReplayResult',
  },
  {
    file: "docs/policy.md",
    has: '"undecided"',
    type: 'import("ROOT/src/http/tenant/policy-dry-run.ts").DryRunAnswer',
  },
  {
    file: "docs/conversations.md",
    has: '"turns"',
    type: '{ turns: readonly import("ROOT/src/protocol/conversation/shown.ts").ShownTurn[]; next: string }',
  },
  {
    file: "docs/conversations.md",
    has: '"erasureId"',
    type: 'import("ROOT/src/protocol/person/erasure.ts").PersonErasure & { kept: readonly string[] }',
  },
  {
    file: "docs/escalations.md",
    has: '"escalations"',
    type: '{ escalations: readonly (import("ROOT/src/protocol/escalation/escalation.ts").Escalation & { actions: readonly string[]; href: string })[] }',
  },
  {
    file: "docs/http.md",
    has: '"recoveries"',
    type: 'import("ROOT/src/protocol/run/state.ts").RunState',
  },
  {
    file: "docs/http.md",
    has: '"mediaType"',
    type: '{ content: readonly import("ROOT/src/protocol/tool/content.ts").ShownContent[] }',
  },
  {
    file: "docs/http.md",
    has: '"deployment": {',
    type: 'Omit<Extract<import("ROOT/src/capabilities/run.ts").ContextAnswer, { kind: "context" }>, "kind"> & { runId: string }',
  },
  {
    file: "docs/logs.md",
    has: '"errorId"',
    type: 'import("ROOT/src/capabilities/log.ts").LogLine & { errorId: string; error: import("ROOT/src/protocol/text/error-report.ts").ErrorReport }',
  },
  {
    file: "docs/metrics.md",
    has: '"unpricedTokens"',
    type: 'import("ROOT/src/http/metrics/usage.ts").UsageReport',
  },
];

/** The type that a JSON block is held against; `ROOT` is the folder of the repository. */
export function typeOf({ file, language, text }: CodeBlock): string | undefined {
  if (language !== "json") return undefined;
  return TYPED.find((known) => known.file === file && text.includes(known.has))?.type;
}

/** Tells whether the compiler holds a block against a type, and no reader has to accept it. */
export function isTyped(block: CodeBlock): boolean {
  return typeOf(block) !== undefined;
}
