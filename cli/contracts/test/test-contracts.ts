import type { AnyToolContract } from "../../../src/contracts/define/definition.ts";
import { evaluate, type Row } from "./evaluate.ts";
import type { Surroundings } from "./subject.ts";
import { countCells, formatChecks, formatLegend, formatResultTable } from "./format-rows.ts";

/** Options of the tests. */
export interface TestRequest extends Surroundings {
  /** Those that are to be tested, of all. */
  readonly chosen: readonly AnyToolContract[];
  readonly verbose: boolean;
}

/** Tests contracts in every mode and prints the results. Returns whether none failed. */
export async function testContracts({
  chosen,
  verbose,
  ...surroundings
}: TestRequest): Promise<boolean> {
  const rows: Row[] = [];
  for (const contract of chosen) {
    showProgress(`${rows.length + 1} of ${chosen.length}  ${contract.name}@${contract.version}`);
    rows.push(await evaluate(contract, surroundings));
  }
  showProgress("");
  const lines = [
    ...(verbose ? [...rows.flatMap(formatChecks), ""] : []),
    ...formatResultTable(rows),
    "",
    ...formatLegend(rows),
    `contracts: ${countCells(rows)}`,
  ];
  console.log(lines.join("\n"));
  return rows.every(({ cells }) => cells.every(({ verdict }) => verdict !== "fail"));
}

/** One progress line on a terminal, overwritten each time. */
function showProgress(line: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\u001b[K${line}`);
}
