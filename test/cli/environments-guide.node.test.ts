import { spawnSync } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PACKAGE_FOLDER } from "../../cli/project/folders.ts";
import type { CommandResult } from "../shared/command-process.ts";
import { ProjectFolder } from "../shared/project-folder.ts";
import { startDeployment, type StartedDeployment } from "../shared/started-deployment.ts";

const GUIDE = readFileSync(join(PACKAGE_FOLDER, "docs/environments.md"), "utf8");
const read = (file: string): string => readFileSync(join(PACKAGE_FOLDER, file), "utf8");
const source = (file: string): string => JSON.stringify(join(PACKAGE_FOLDER, "src", file));
const ENTRY = `
import { COMPILED } from "../.interlock/contracts.js";
import { defineDeployment } from ${source("define-deployment.ts")};
import { askPerson } from ${source("core-tools/ask-person.ts")};
import { CORE_TOOLS } from ${source("core-tools/pack.ts")};
import { responsesWire } from ${source("wire/responses/wire.ts")};
import { assistantTransport } from ${source("wire/assistant-transport/wire.ts")};
const deployment = defineDeployment({
  tools: [...CORE_TOOLS, askPerson],
  compiled: COMPILED,
  wires: { models: [responsesWire], clients: [assistantTransport] },
});
export const { RunObject, TenantObject } = deployment;
export default deployment.worker;
`;

const linesOf = (matches: IterableIterator<RegExpExecArray>): readonly string[] =>
  [...matches]
    .flatMap(([, text = ""]) => text.split("\n"))
    .map((line) => line.trim())
    .filter((line) => line !== "");
/** A step of the CI file, of one environment. */
function inEnvironment(line: string): string {
  return line.replaceAll("$ENVIRONMENT", "staging");
}
const BLOCKS = linesOf(GUIDE.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm));
const STEPS = linesOf(GUIDE.matchAll(/^ *- run: (.*)$/gm));
/** Lines that a reader runs, in order, each once: blocks of shell, and steps of the CI file. */
const COMMANDS = [...new Set([...BLOCKS, ...STEPS].map(inEnvironment))];

/** Files that the guide shows: a path in a line of its own, then the content. */
const FILES = [...GUIDE.matchAll(/^`(tenant\/[^`]+)`:\n\n```json\n([\s\S]*?)^```/gm)];

/**
 * Stands for npx in a line that is more than one command of interlock. A deploy is a dry run, of
 * one environment: the others bundle the same Worker, and `interlock check` reads their settings.
 * Commands that need Cloudflare do nothing: test/docs/command-blocks.node.test.ts holds those of
 * blocks against wrangler's own help, and those of the CI file are those of blocks.
 */
const NPX = `#!/bin/bash
wrangler() { "${process.execPath}" "${PACKAGE_FOLDER}/node_modules/wrangler/bin/wrangler.js" "$@"; }
case "$1 $2" in
  "interlock "*) shift; exec "${process.execPath}" "${PACKAGE_FOLDER}/cli/interlock.ts" "$@" ;;
  "wrangler deploy") [ "$4" = production ] || { shift; wrangler "$@" --dry-run --outdir "dist-dry"; } ;;
  "wrangler secret") [ "$3" = list ] && echo "$SECRET_LIST" || cat > /dev/null ;;
  "wrangler "*) ;;
  *) echo "no such command: $*" >&2; exit 1 ;;
esac
`;
/** Stands for npm, which would need a registry. */
const NPM = `#!/bin/bash
case "$1" in ci|install|test) ;; *) exit 1 ;; esac
`;
const SECRETS = ["RUN_ID_SECRET", "CONNECTION_KEYS", "API_TOKENS", "OPENAI_API_KEY"];
const SCOPES = [
  "policy:read",
  "policy:write",
  "assistants:read",
  "assistants:write",
  "connections:write",
];

let deployment: StartedDeployment;
let project: ProjectFolder;

beforeAll(async () => {
  const caller = (tenantId: string) => ({ tenantId, actorId: "service:ci", scopes: SCOPES });
  deployment = await startDeployment({
    ilk_staging: caller("staging"),
    ilk_production: caller("production"),
  });
  project = new ProjectFolder();
  const config = read("templates/base/wrangler.toml").replaceAll("{{name}}", "desk");
  project.write("wrangler.toml", config.replaceAll(/^#\{\{.*\}\}$/gm, ""));
  project.write("src/index.ts", ENTRY);
  cpSync(join(PACKAGE_FOLDER, "contracts.lock"), join(project.path, "contracts.lock"), {
    recursive: true,
  });
  project.write("tenant/policy.json", { allowedTools: ["core__calculate"] });
  for (const [, name = "", content = ""] of FILES) project.write(name, content);
  project.write("tenant/environments.json", {
    staging: { url: deployment.url },
    production: { url: deployment.url },
  });
  project.writeProgram("bin/npx", NPX);
  project.writeProgram("bin/npm", NPM);
  for (const name of ["staging", "production"]) {
    project.write(
      `.dev.vars.${name}`,
      `INTERLOCK_TOKEN=ilk_${name}\nCRM_TOKEN=secret-of-the-crm\n`,
    );
  }
});
afterAll(async () => {
  project[Symbol.dispose]();
  await deployment[Symbol.asyncDispose]();
});

describe("the guide of environments", () => {
  test("shows the files of a tenant that the commands read", () => {
    expect(FILES.map(([, name]) => name)).toEqual([
      "tenant/environments.json",
      "tenant/connections/crm.json",
      "tenant/assistants/support.json",
    ]);
  });

  test("its CI file asks of wrangler what its blocks ask", () => {
    const ofWrangler = STEPS.filter((line) => line.startsWith("npx wrangler "));
    expect(ofWrangler).not.toEqual([]);
    for (const line of ofWrangler) expect(BLOCKS).toContain(inEnvironment(line));
  });

  test.each(COMMANDS)("runs %s", async (command) => {
    const { exitCode, all } = await run(command);
    expect(all).not.toContain("secret-of-the-crm");
    expect([exitCode, exitCode === 0 ? "" : all]).toEqual([0, ""]);
  });
});

/** Runs a line as a shell does. */
async function run(line: string): Promise<Pick<CommandResult, "exitCode" | "all">> {
  const variables = {
    PATH: `${join(project.path, "bin")}:${process.env["PATH"]}`,
    SECRET_LIST: JSON.stringify(SECRETS.map((name) => ({ name, type: "secret_text" }))),
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    WRANGLER_SEND_METRICS: "false",
  };
  // Nothing but the command: it needs no shell and no process of its own.
  if (/^npx interlock [\w .-]+$/.test(line)) {
    const [, , ...args] = line.split(" ");
    return project.run(args, variables);
  }
  const { status, stdout, stderr } = spawnSync("bash", ["-ec", `set -o pipefail; ${line}`], {
    cwd: project.path,
    encoding: "utf8",
    input: "",
    env: { ...process.env, ...variables },
  });
  return { exitCode: status ?? 1, all: `${stdout}${stderr}` };
}
