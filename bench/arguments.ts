import { parseArgs } from "node:util";

/** What a bench run measures, whether it takes fewer rounds, and where objects are stored. */
export interface BenchArguments {
  readonly only: readonly string[];
  readonly quick: boolean;
  /** Objects are stored in memory, so that no disk is measured. */
  readonly memoryDisk: boolean;
}

/**
 * Reads the command line of the bench. `--only` takes measures separated by commas, and may be
 * repeated; without `--only`, every measure of `names` runs.
 * Fails: throws for an unknown option and for an unknown measure.
 */
export function readBenchArguments(
  args: readonly string[],
  names: readonly string[],
): BenchArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string", multiple: true },
      quick: { type: "boolean" },
      "memory-disk": { type: "boolean" },
    },
  });
  const only = values.only?.flatMap((list) => list.split(",")) ?? names;
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`There is no measure ${JSON.stringify(unknown)}.`);
  return { only, quick: values.quick ?? false, memoryDisk: values["memory-disk"] ?? false };
}
