import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { buildDeployment, replaceFile } from "../project/build-deployment.ts";
import { type Command, parsing } from "../command.ts";
import { refusalFile } from "../development/refusal.ts";
import { outputFolder, projectFolder } from "../project/folders.ts";

export const command: Command = {
  usage:
    "Usage: interlock build\n" +
    "Writes .interlock/contracts.js from the tools of the deployment, and .interlock/public\n" +
    "from the supplied pages and your folder public. Exit code 1: a contract cannot be\n" +
    "registered, or a tool reaches past its capabilities.",
  run: buildProject,
};

/**
 * Builds the deployment of the current folder. A refusal fails the build; in development, with
 * SERVE_REFUSAL set, it is also kept for the development server to answer with.
 */
async function buildProject(args: string[]): Promise<void> {
  parsing(() => parseArgs({ args }));
  const project = projectFolder();
  const kept = refusalFile(outputFolder(project));
  const built = await buildDeployment(project);
  if (built.ok) return rmSync(kept, { force: true });
  if (process.env["SERVE_REFUSAL"]) replaceFile(kept, built.failure);
  console.error(built.failure);
  process.exitCode = 1;
}
