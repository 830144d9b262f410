import { spawnSync } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PACKAGE_FOLDER } from "../../cli/project/folders.ts";
import { ProjectFolder } from "../shared/project-folder.ts";
import { startDeployment, type StartedDeployment } from "../shared/started-deployment.ts";

const GUIDE = readFileSync(join(PACKAGE_FOLDER, "docs/environments.md"), "utf8");
const read = (file: string): string => readFileSync(join(PACKAGE_FOLDER, file), "utf8");
const source = (file: string): string => JSON.stringify(join(PACKAGE_FOLDER, "src", file));
const ENTRY = `
import { COMPILED } from "../.interlock/contracts.js";
import { defineDeployment } from ${source("define-deployment.ts")};
import { CORE_TOOLS } from ${source("core-tools/pack.ts")};
import { responsesWire } from ${source("wire/responses/wire.ts")};
import { assistantTransport } from ${source("wire/assistant-transport/wire.ts")};
const deployment = defineDeployment({
  tools: CORE_TOOLS,
  compiled: COMPILED,
  wires: { models: [responsesWire], clients: [assistantTransport] },
});
export const { RunObject, TenantObject } = deployment;
export default deployment.worker;
`;

/** Lines that a reader runs, in order, each once: blocks of shell, and steps of the CI file. */
const LINES = [
  ...[...GUIDE.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].flatMap(([, block = ""]) =>
    block.split("\n"),
  ),
  ...[...GUIDE.matchAll(/^ *- run: (.*)$/gm)].map(([, line = ""]) => line),
]
  .map((line) => line.trim())
  .filter((line) => line !== "");
const COMMANDS = [...new Set(LINES)];

/** Files that the guide shows: a path in a line of its own, then the content. */
const FILES = [...GUIDE.matchAll(/^`(tenant\/[^`]+)`:\n\n```json\n([\s\S]*?)^```/gm)];

/**
 * Stands for npx. The command interlock runs as it is, a deploy as a dry run. Commands that need
 * Cloudflare are held against wrangler's own help: each flag has to be there.
 */
const NPX = `#!/bin/bash
wrangler() { "${process.execPath}" "${PACKAGE_FOLDER}/node_modules/wrangler/bin/wrangler.js" "$@"; }
case "$1 $2" in
  "interlock "*) shift; exec "${process.execPath}" "${PACKAGE_FOLDER}/cli/interlock.ts" "$@" ;;
  "wrangler deploy") shift; wrangler "$@" --dry-run --outdir "dist-dry" ;;
  "wrangler "*)
    shift; words=(); flags=()
    for word in "$@"; do
      case "$word" in --*) flags+=("$word") ;; [A-Z]*|staging|production|my-branch) ;; *) words+=("$word") ;; esac
    done
    help=$(wrangler "\${words[@]}" --help) || exit 1
    grep -q "^wrangler \${words[*]}" <<< "$help" || { echo "no such command: $*" >&2; exit 1; }
    for flag in "\${flags[@]}"; do grep -q -- "$flag" <<< "$help" || { echo "no $flag: $*" >&2; exit 1; }; done
    [ "$words" = secret ] && [ "\${words[1]}" = list ] && echo "$SECRET_LIST"
    [ -t 0 ] || cat > /dev/null ;;
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

  test.each(COMMANDS)("runs %s", (command) => {
    const { status, stdout, stderr } = spawnSync("bash", ["-ec", `set -o pipefail; ${command}`], {
      cwd: project.path,
      encoding: "utf8",
      input: "",
      env: {
        ...process.env,
        PATH: `${join(project.path, "bin")}:${process.env["PATH"]}`,
        ENVIRONMENT: "staging",
        SECRET_LIST: JSON.stringify(SECRETS.map((name) => ({ name, type: "secret_text" }))),
        CLOUDFLARE_CF_FETCH_ENABLED: "false",
        WRANGLER_SEND_METRICS: "false",
      },
    });
    expect(`${stdout}${stderr}`).not.toContain("secret-of-the-crm");
    expect([status, status === 0 ? "" : `${stdout}${stderr}`]).toEqual([0, ""]);
  });
});
