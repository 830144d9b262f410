import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PACKAGE_FOLDER } from "../../cli/project/folders.ts";
import type { CommandResult } from "../shared/command-process.ts";
import { ProjectFolder } from "../shared/project-folder.ts";
import { type StartedDeployment, startDeployment } from "../shared/started-deployment.ts";

const TOKEN = "ilk_the-token-of-ann";
const SCOPES = ["chat", "policy:read", "policy:write"];
const TOOL = "gameplan__create_project";
const RECORD = "rows.jsonl.staging.seeded";

let deployment: StartedDeployment;
let project: ProjectFolder;
beforeAll(async () => {
  const ann = { tenantId: "acme", actorId: "user:ann", scopes: SCOPES };
  deployment = await startDeployment({ [TOKEN]: ann });
  project = new ProjectFolder();
  project.write("wrangler.toml", 'main = "src/index.ts"\n');
  const source = (file: string): string => JSON.stringify(join(PACKAGE_FOLDER, file));
  project.write(
    "src/index.ts",
    `import { TOOLS } from ${source("src/tools/index.ts")};
import { defineDeployment } from ${source("test/shared/define-options.ts")};
export default defineDeployment({ tools: TOOLS }).worker;
`,
  );
  project.write("tenant/environments.json", { staging: { url: deployment.url } });
});
afterAll(async () => {
  project?.[Symbol.dispose]();
  await deployment?.[Symbol.asyncDispose]();
});

const call = async (method: string, path: string, body?: object): Promise<string> => {
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const answer = await fetch(`${deployment.url}${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  return answer.text();
};

/** Stores a policy in which ann is a member of each workspace that the tests use. */
async function govern(argumentRules: readonly object[] = []): Promise<void> {
  const current = (await call("GET", "/v1/policy")).match(/"revision":(\d+)/)?.[1];
  const member = { actors: ["user:ann"] };
  const policy = {
    allowedTools: [TOOL, "gameplan__list_projects"],
    workspaces: { crash: member, lost: member, rule: member, wrong: member },
    argumentRules,
  };
  const answer = await fetch(`${deployment.url}/v1/policy`, {
    method: "PUT",
    headers: {
      authorization: `Bearer ${TOKEN}`,
      "content-type": "application/json",
      ...(current === undefined ? { "if-none-match": "*" } : { "if-match": `"${current}"` }),
    },
    body: JSON.stringify(policy),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

/** The names of the rows that a workspace holds, sorted. */
async function rowsOf(workspaceId: string): Promise<readonly string[]> {
  const path = "/v1/tools/gameplan__list_projects/invoke";
  const text = await call("POST", path, { arguments: {}, workspaceId });
  return [...text.matchAll(/"name":"(row-\d+)"/g)].map(([, name]) => name ?? "").toSorted();
}

const rows = (count: number): string =>
  Array.from({ length: count }, (_, at) => `{"name":"row-${at + 10}"}\n`).join("");
const names = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `row-${at + 10}`);

function seed(workspace: string, ...more: readonly string[]): Promise<CommandResult> {
  const args = ["seed", "rows.jsonl", "--tool", TOOL, "--workspace", workspace, "--env", "staging"];
  return project.run([...args, ...more], { INTERLOCK_TOKEN: TOKEN });
}

function begin(text: string): void {
  project.write("rows.jsonl", text);
  rmSync(join(project.path, RECORD), { force: true });
}

test("a wrong line is named with its field, and no row is sent", async () => {
  await govern();
  begin(`${rows(2)}{"name":7}\n\nnonsense\n{"title":"x"}\n`);
  const { exitCode, stderr } = await seed("wrong");
  expect([exitCode, stderr.split("\n").slice(0, 2), stderr.trimEnd().split("\n").at(-1)]).toEqual([
    1,
    ["rows.jsonl:3: /name: expected string", "rows.jsonl:5: expected a JSON object"],
    "Nothing was sent.",
  ]);
  expect(await rowsOf("wrong")).toEqual([]);
});

test("a killed command is repeated, and each row is there once", async () => {
  await govern();
  begin(rows(12));
  const args = ["--tool", TOOL, "--workspace", "crash", "--env", "staging", "--batch", "3"];
  const script = join(PACKAGE_FOLDER, "cli/interlock.ts");
  const child = spawn(process.execPath, [script, "seed", "rows.jsonl", ...args], {
    cwd: project.path,
    env: { ...process.env, INTERLOCK_TOKEN: TOKEN },
  });
  let progress = "";
  child.stderr.on("data", (chunk: Buffer) => {
    progress += chunk.toString();
    if (progress.includes("of 12 rows")) child.kill("SIGKILL");
  });
  await once(child, "exit");
  expect(progress).toMatch(/^3 of 12 rows$/m);
  const again = await seed("crash");
  expect(again).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/, \d+ were loaded before, of 12\.\n$/),
  });
  expect(await rowsOf("crash")).toEqual(names(12));
});

test("a lost record doubles nothing, also when the file got more rows at its front", async () => {
  await govern();
  begin(rows(4));
  expect((await seed("lost")).stdout).toBe("4 rows loaded, 0 were loaded before, of 4.\n");
  begin(`{"name":"row-99"}\n${rows(4)}`);
  expect((await seed("lost", "--batch", "1")).exitCode).toBe(0);
  expect(await rowsOf("lost")).toEqual([...names(4), "row-99"]);
});

test("a refused row stops the command with its line, and is loaded once nothing refuses it", async () => {
  const field = { tool: TOOL, field: "/name", must: { beOneOf: ["row-10"] } };
  await govern([field]);
  begin(rows(3));
  const refused = await seed("rule", "--batch", "1");
  expect([refused.exitCode, refused.stderr]).toEqual([
    1,
    expect.stringMatching(/^rows\.jsonl:2: POLICY_VIOLATION: .*run_/m),
  ]);
  await govern();
  expect((await seed("rule")).stdout).toBe("2 rows loaded, 1 were loaded before, of 3.\n");
  expect(await rowsOf("rule")).toEqual(names(3));

  writeFileSync(join(project.path, RECORD), "mine\n");
  expect((await seed("rule")).stderr).toContain("is not a record that interlock seed wrote");
});
