import type { Mutant } from "./mutant.ts";

/** What `interlock audit verify` checks of an export. */
export const AUDIT_EXPORT: readonly Mutant[] = [
  {
    name: "the end line of an export may name any record",
    file: "cli/audit/verify-chain.ts",
    from: "if (text !== toCanonicalJson({ head: { hash: last.hash, seq: last.seq } })) {",
    to: 'if (text === "") {',
    test: {
      file: "test/cli/audit-verify.node.test.ts",
      name: "a changed last record under a new hash",
    },
  },
  {
    name: "a record may have any number",
    file: "cli/audit/verify-chain.ts",
    from: "if (seq !== last.seq + 1) {",
    to: "if (seq === undefined) {",
    test: {
      file: "test/cli/audit-verify.node.test.ts",
      name: "a removed record",
    },
  },
  {
    name: "lines may follow the end line of an export",
    file: "cli/audit/verify-chain.ts",
    from: 'if (hasEnded) return { kind: "broken", line, why: "something follows the end line" };',
    to: "",
    test: {
      file: "test/cli/audit-verify.node.test.ts",
      name: "a line after the end",
    },
  },
  {
    name: "a line may have another form than the canonical one",
    file: "cli/audit/verify-chain.ts",
    from: "toCanonicalJson(value) === text ? value",
    to: 'toCanonicalJson(value) !== "" ? value',
    test: {
      file: "test/cli/audit-verify.node.test.ts",
      name: "a key that comes twice",
    },
  },
  {
    name: "a record may have more fields",
    file: "cli/audit/verify-chain.ts",
    from: 'if (Object.keys(record).sort().join(",") !== FIELDS) return "it has not the fields of a record";',
    to: "",
    test: {
      file: "test/cli/audit-verify.node.test.ts",
      name: "a field more",
    },
  },
  {
    name: "a head that is known is compared with nothing",
    file: "cli/audit/verify-chain.ts",
    from: "if (head !== undefined && head !== last.hash) {",
    to: 'if (head === "") {',
    test: {
      file: "test/cli/audit-verify.node.test.ts",
      name: "a tail that was removed at a record, which only the head shows",
    },
  },
  {
    name: "an earlier head is compared with nothing",
    file: "cli/audit/verify-chain.ts",
    from: "if (!isKnown) {",
    to: "if (isKnown === undefined) {",
    test: {
      file: "test/cli/audit-verify.node.test.ts",
      name: "a chain with an earlier head passes, and another chain fails",
    },
  },
  {
    name: "the numbers of a summary need not fit together",
    file: "cli/audit/verify-removal.ts",
    from: 'if (firstSeq !== 1 || count !== lastSeq || !isWhole) return "its numbers do not fit together";',
    to: "void [firstSeq, count, isWhole];",
    test: {
      file: "test/cli/audit-verify.node.test.ts",
      name: "a signed summary with another count is named",
    },
  },
  {
    name: "a summary may have more fields",
    file: "cli/audit/verify-removal.ts",
    from: 'if (Object.keys(removed).sort().join(",") !== FIELDS) {',
    to: 'if (removed["key"] === FIELDS) {',
    test: {
      file: "test/cli/audit-verify.node.test.ts",
      name: "a signed summary with a field more is named",
    },
  },
];
