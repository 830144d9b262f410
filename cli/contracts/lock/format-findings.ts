import type { ContractChange } from "../diff/contract-change.ts";
import type { Finding, Since } from "./review-lock.ts";

/** Formats findings, breaking changes first. Unchanged contracts add no line. */
export function formatFindings(findings: readonly Finding[]): readonly string[] {
  return findings.flatMap((finding): readonly string[] => {
    switch (finding.kind) {
      case "same":
      case "retired":
        return [];
      case "missing":
        return [
          `${finding.key}: BREAKING: is gone from the code`,
          "  Bring it back, deprecate it, and remove it once the lock has it as sunsetted.",
        ];
      case "breaking":
        return [
          `${finding.key}:`,
          ...formatChanges(finding.changes),
          `  Give it a new version, and keep ${finding.key} as it was beside it.`,
        ];
      case "compatible":
        return [`${finding.key}:`, ...formatChanges(finding.changes)];
      case "new":
        return [`${finding.key}: new, not in the lock`, ...formatSince(finding.since)];
    }
  });
}

/** Formats the counts of a lock as one line. */
export function countFindings(findings: readonly Finding[]): string {
  const tools = new Set(findings.map(({ key }) => key.slice(0, key.lastIndexOf("@"))));
  const retired = findings.filter(({ kind }) => kind === "retired").length;
  return `tools ${tools.size}, versions ${findings.length}, of which retired ${retired}`;
}

function formatChanges(changes: readonly ContractChange[]): readonly string[] {
  const sorted = changes.toSorted((a, b) => rank(a) - rank(b));
  return sorted.map(({ kind, sentence }) => `  ${LABELS[kind]}: ${sentence}`);
}

const LABELS = { breaking: "BREAKING", compatible: "compatible" } as const;

function rank({ kind }: ContractChange): number {
  return kind === "breaking" ? 0 : 1;
}

function formatSince(since: Since | null): readonly string[] {
  if (!since) return [];
  const { version, changes, needsMajor } = since;
  return [
    changes.length === 0 ? `  the same as ${version}` : `  since ${version}:`,
    ...formatChanges(changes),
    ...(needsMajor ? [`  It breaks callers of ${version}: its first number should grow.`] : []),
  ];
}
