import { existsSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import type { OfflineScenario } from "../../src/testing/run/offline-scenario.ts";
import { CommandError } from "../command.ts";
import { loadModule } from "../project/load-deployment.ts";

const step = v.custom<OfflineScenario["steps"][number]>((value) => typeof value === "function");
const scenarios = v.array(
  v.object({
    name: v.string(),
    asked: v.instance(RegExp),
    steps: v.pipe(v.array(step), v.minLength(1)),
    speed: v.exactOptional(v.pipe(v.number(), v.minValue(1))),
  }),
);

/**
 * Reads the application's own answers of the offline model: the default export of a module.
 * Fails: throws a CommandError that names the file and what is wrong with it.
 */
export async function loadScenarios(
  project: string,
  file: string | undefined,
): Promise<readonly OfflineScenario[]> {
  if (file === undefined) return [];
  if (!existsSync(join(project, file))) throw new CommandError(`--offline: there is no ${file}.`);
  const read = v.safeParse(scenarios, (await loadModule(project, `./${file}`)).loaded.default);
  if (read.success) return read.output;
  const [issue] = read.issues;
  const at = v.getDotPath(issue);
  throw new CommandError(
    `${file}: the default export is no list of offline scenarios` +
      `${at === null ? "" : ` (at ${at})`}: ${issue.message}`,
  );
}
