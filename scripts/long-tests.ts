import { createHash } from "node:crypto";

/**
 * Test files that start many programs or open many pages, each with the processor time that it
 * takes alone, in seconds: half of that of all tests. `test/e2e/dev` is not among them, because
 * what it holds must hold at every commit: `npm run dev` starts and answers.
 */
export const LONG_TESTS: ReadonlyMap<string, number> = new Map([
  ["test/package/page-ticket-desk.node.test.ts", 157],
  ["apps/gameplan/test/page.node.test.ts", 69],
  ["test/e2e/people.node.test.ts", 65],
  ["test/e2e/dev-failures.node.test.ts", 61],
  ["test/widget/page-gameplan-hand.node.test.ts", 53],
  ["test/e2e/page.node.test.ts", 51],
  ["test/cli/contracts-test.node.test.ts", 41],
  ["test/widget/page-access.node.test.ts", 33],
  ["test/docs/command-blocks.node.test.ts", 30],
  ["test/widget/page-gameplan.node.test.ts", 30],
  ["test/widget/approvals-page.node.test.ts", 29],
  ["test/cli/environments-guide.node.test.ts", 24],
  ["test/cli/tool-purity.node.test.ts", 24],
  ["test/cli/compile-contracts.node.test.ts", 23],
  ["test/docs/client-recipes.node.test.ts", 22],
  ["test/widget/page-connection.node.test.ts", 22],
  ["test/widget/page-approval.node.test.ts", 21],
  ["test/scripts/run-vitest.node.test.ts", 19],
  ["test/widget/page-answer.node.test.ts", 19],
  ["test/widget/page-gameplan-safety.node.test.ts", 19],
  ["test/widget/page-decision.node.test.ts", 18],
  ["test/docs/typescript-blocks.node.test.ts", 17],
  ["test/widget/approvals-outcomes.node.test.ts", 16],
  ["test/widget/page-tool-content.node.test.ts", 16],
  ["test/widget/page-undo.node.test.ts", 14],
  ["test/cli/templates.node.test.ts", 13],
]);

/** The long test files of one test run. Together they are all of them. */
export interface ChosenTests {
  readonly taken: readonly string[];
  readonly left: readonly string[];
}

/**
 * Chooses about a quarter of the long test files, by their time. Those that changed lately come
 * first: who changes a test wants its answer.
 * Contract: one seed chooses the same files. Where none changed, each is in a quarter of the
 * test runs.
 */
export function chooseLongTests(seed: string, changed: ReadonlySet<string>): ChosenTests {
  const rankOf = (file: string): string => {
    const hash = createHash("sha256").update(`${seed} ${file}`).digest("hex");
    return `${changed.has(file) ? "first" : "second"} ${hash}`;
  };
  const ranked = [...LONG_TESTS].map(([file, seconds]) => ({ file, seconds, rank: rankOf(file) }));
  ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1));
  let rest = ranked.reduce((sum, { seconds }) => sum + seconds, 0) / 4;
  const [taken, left]: [string[], string[]] = [[], []];
  for (const { file, seconds } of ranked) {
    const isTaken = rest >= seconds / 2;
    if (isTaken) rest -= seconds;
    (isTaken ? taken : left).push(file);
  }
  return { taken, left };
}

/** The arguments of vitest that leave out these files. */
export function leaveOut(files: readonly string[]): readonly string[] {
  return files.map((file) => `--exclude=${file}`);
}
