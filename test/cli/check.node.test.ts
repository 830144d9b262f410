import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PACKAGE_FOLDER } from "../../cli/project/folders.ts";
import { readJsonFile } from "../../cli/push/tenant-files.ts";
import { inDays, providerOf } from "../shared/model-lists.ts";
import { ProjectFolder } from "../shared/project-folder.ts";

const source = (file: string): string => JSON.stringify(join(PACKAGE_FOLDER, "src", file));
/** A deployment with a model and an upstream of its own. */
const ENTRY = `
import { COMPILED } from "../.interlock/contracts.js";
import { defineDeployment } from ${source("../test/shared/define-options.ts")};
import { CORE_TOOLS } from ${source("core-tools/pack.ts")};
import { openAIWire } from ${source("wire/openai/wire.ts")};
import { assistantTransport } from ${source("wire/assistant-transport/wire.ts")};
const deployment = defineDeployment({
  tools: CORE_TOOLS,
  compiled: COMPILED,
  models: [{ id: "house", wire: "openai", address: "HOUSE_BASE_URL", secret: "HOUSE_API_KEY" }],
  upstreams: { desk: "DESK_URL" },
  wires: { models: [openAIWire], clients: [assistantTransport] },
});
export const { RunObject, TenantObject } = deployment;
export default deployment.worker;
`;
const VARIABLES = {
  HOUSE_BASE_URL: "https://models.house.dev/v1",
  DESK_URL: "https://desk.house.dev",
};
/** Every binding of one environment; \`prefix\` is its table. */
const bindings = (prefix: string): string => `
[[${prefix}kv_namespaces]]
binding = "POLICY"
[[${prefix}kv_namespaces]]
binding = "IDEMPOTENCY"
[[${prefix}kv_namespaces]]
binding = "CONNECTIONS"
[[${prefix}durable_objects.bindings]]
name = "RUNS"
class_name = "RunObject"
[[${prefix}durable_objects.bindings]]
name = "TENANTS"
class_name = "TenantObject"
[${prefix}secrets]
required = ["RUN_ID_SECRET", "CONNECTION_KEYS"]
`;
const COMMON = `
name = "desk"
main = "src/index.ts"
compatibility_date = "2026-11-17"
[assets]
directory = "./.interlock/public"
binding = "ASSETS"
`;
const OBJECTS = `
[exports.RunObject]
type = "durable-object"
storage = "sqlite"
[exports.TenantObject]
type = "durable-object"
storage = "sqlite"
`;
const SECRETS = ["RUN_ID_SECRET", "CONNECTION_KEYS", "API_TOKENS", "HOUSE_API_KEY"];

let project: ProjectFolder;

beforeAll(async () => {
  project = new ProjectFolder();
  project.write("src/index.ts", ENTRY);
  write({});
  await project.run(["build"]);
  await project.run(["contracts", "update"]);
});
afterAll(() => project[Symbol.dispose]());
beforeEach(() => {
  write({});
  project.write("src/index.ts", ENTRY);
  rmSync(join(project.path, "tenant"), { recursive: true, force: true });
  project.write("tenant/policy.json", { allowedTools: ["core__calculate"] });
  project.write("secrets.json", JSON.stringify(SECRETS.map((name) => ({ name, type: "secret" }))));
});

/** Writes wrangler.toml; by default with everything that production needs. */
function write({
  variables = VARIABLES,
  objects = OBJECTS,
  top = "",
  production = bindings("env.production."),
}: {
  readonly variables?: Readonly<Record<string, string>>;
  readonly objects?: string;
  readonly top?: string;
  readonly production?: string;
}): void {
  const lines = Object.entries(variables).map(([name, value]) => `${name} = '${value}'`);
  const own = ["[env.production.vars]", ...lines, production].join("\n");
  project.write("wrangler.toml", [COMMON, objects, top, own].join("\n"));
}

interface Finding {
  readonly level: string;
  readonly place: string;
  readonly message: string;
}

async function check(
  args: readonly string[] = ["--secrets", "secrets.json"],
): Promise<{ exitCode: number; findings: readonly Finding[]; all: string }> {
  const result = await project.run(["check", "--env", "production", "--json", ...args]);
  const { findings } = JSON.parse(result.stdout || "{}") as { findings?: readonly Finding[] };
  return { exitCode: result.exitCode, findings: findings ?? [], all: result.all };
}

const errorsOf = (findings: readonly Finding[]): readonly string[] =>
  findings.filter(({ level }) => level === "error").map(({ message }) => message);

describe("interlock check", () => {
  test("finds nothing where nothing is missing", async () => {
    expect(await check()).toMatchObject({ exitCode: 0, findings: [] });
  });

  test("says which secrets it could not see, and does not fail for that", async () => {
    const { exitCode, findings } = await check([]);
    expect(findings.map(({ level, message }) => [level, message.split(" ")[0]])).toEqual([
      ["unseen", "RUN_ID_SECRET"],
      ["unseen", "CONNECTION_KEYS"],
      ["unseen", "API_TOKENS"],
      ["unseen", "HOUSE_API_KEY"],
    ]);
    expect(exitCode).toBe(0);
  });

  test("misses each secret", async () => {
    project.write("secrets.json", "[]");
    const { exitCode, findings } = await check();
    expect(errorsOf(findings)).toEqual(
      SECRETS.map((name) => expect.stringContaining(`${name} is missing. Store it`) as string),
    );
    expect(exitCode).toBe(1);
  });

  test("checks the form of secrets whose values it gets, and never repeats one", async () => {
    const lines = ["RUN_ID_SECRET=short-secret", "CONNECTION_KEYS=none", "HOUSE_API_KEY=k"];
    project.write("secrets.env", lines.join("\n"));
    const { findings, all } = await check(["--secrets", "secrets.env"]);
    expect(errorsOf(findings)).toEqual([
      expect.stringContaining("RUN_ID_SECRET is not valid"),
      expect.stringContaining("CONNECTION_KEYS is not valid"),
      expect.stringContaining("API_TOKENS is missing"),
    ]);
    const places = findings.filter(({ level }) => level === "error").map(({ place }) => place);
    expect(places).toEqual(["secrets.env:1", "secrets.env:2", "secrets.env"]);
    expect(all).not.toContain("short-secret");
  });

  test("says of each binding of the top level that a named environment does not inherit it", async () => {
    write({ top: bindings(""), production: "" });
    const { findings } = await check();
    const names = ["IDEMPOTENCY", "POLICY", "CONNECTIONS", "RUNS", "TENANTS"];
    expect(errorsOf(findings)).toEqual(
      names.map(
        (name) =>
          `binding ${name} is missing. [env.production] does not inherit it from the top level: ` +
          "repeat it there",
      ),
    );
    expect(findings).toContainEqual({
      level: "warning",
      place: "wrangler.toml",
      message: expect.stringContaining("[env.production.secrets] required does not list") as string,
    });
  });

  test("finds objects without storage, and a class that the entry does not export", async () => {
    write({
      objects: "",
      production: bindings("env.production.").replaceAll("TenantObject", "Gone"),
    });
    const { findings } = await check();
    expect(errorsOf(findings)).toEqual([
      expect.stringContaining("RunObject has no storage"),
      expect.stringContaining("Gone has no storage"),
      "TENANTS is bound to the class Gone, which the entry does not export",
    ]);
  });

  test("finds workspaces without their binding, and their class without storage", async () => {
    const hosted = ENTRY.replace(
      "const deployment = defineDeployment({",
      `import { hostWorkspaces } from ${source("host-workspaces.ts")};
import { gameplanWorkspace } from ${source("../apps/gameplan/workspace.ts")};
const workspaces = hostWorkspaces([gameplanWorkspace]);
export const { WorkspaceObject } = workspaces;
const deployment = defineDeployment({ workspaces,`,
    );
    project.write("src/index.ts", hosted);
    const missing = (await check()).findings;
    const hint = "binding WORKSPACES is missing. npx interlock new workspace NAME writes it";
    expect(errorsOf(missing)).toEqual([expect.stringContaining(hint)]);
    const table = "[[env.production.durable_objects.bindings]]";
    const bound = `${table}\nname = "WORKSPACES"\nclass_name = "WorkspaceObject"\n`;
    write({ production: bound + bindings("env.production.") });
    const unstored = (await check()).findings;
    expect(errorsOf(unstored)).toEqual([expect.stringContaining("WorkspaceObject has no storage")]);
  });

  test("runs every migration", async () => {
    const migrations = ["CREATE TABLE notes (id TEXT)", "ALTER TABLE note ADD COLUMN a TEXT"];
    const message = "migration 2 of notes failed: no such table: note";
    project.write(
      "src/index.ts",
      ENTRY.replace(
        "const deployment = defineDeployment({",
        `import { hostWorkspaces } from ${source("host-workspaces.ts")};
const workspaces = hostWorkspaces([{ name: "notes", migrations: ${JSON.stringify(migrations)}, operations: [] }]);
export const { WorkspaceObject } = workspaces;
const deployment = defineDeployment({ workspaces,`,
      ),
    );
    const { exitCode, findings } = await check();
    expect(exitCode).toBe(1);
    expect(findings).toContainEqual({ level: "error", place: "workspace notes", message });
    const tested = await project.run(["contracts", "test", "--tool", "core__calculate"]);
    expect(tested.exitCode).toBe(1);
    expect(tested.stdout).toContain(`workspace notes: ${message}`);
  });

  test("names the saga and the modules that need each other", async () => {
    const toolOf = (name: string, other: string) => `
      import { ${other} } from "./${other}.ts";
      import { defineSaga } from ${source("contracts/define/define-saga.ts")};
      export const ${name} = defineSaga({
        name: "trip__${name}", version: "1.0.0",
        steps: [{ tool: ${other}, arguments: () => ({}) }], result: () => ({}),
      });`;
    project.write("src/go.ts", toolOf("go", "back"));
    project.write("src/back.ts", toolOf("back", "go"));
    const entry = ENTRY.replace("tools: CORE_TOOLS", "tools: [...CORE_TOOLS, go]");
    project.write("src/index.ts", `import { go } from "./go.ts";\n${entry}`);
    const { exitCode, all } = await check();
    expect(exitCode).toBe(1);
    expect(all).toContain('contracts: Tool "trip__back": step 1 has no tool');
    expect(all).toContain("import each other: src/back.ts → src/go.ts → src/back.ts");
    expect(all).not.toContain("TypeError");
  });

  test("finds a model and an upstream without an address", async () => {
    write({ variables: {} });
    expect(errorsOf((await check()).findings)).toEqual([
      "HOUSE_BASE_URL is missing",
      "DESK_URL is missing",
    ]);
  });

  test.each([
    [
      { DEVELOPER: "{}", HOUSE_BASE_URL: "https://localhost:8080/v1", HOUSE_API_KEY: "sk-open" },
      [
        "DEVELOPER is set: every caller would be admitted without a token",
        "HOUSE_BASE_URL holds an address of this machine",
        "HOUSE_API_KEY is a variable that everybody can read",
      ],
    ],
    [
      { HOUSE_BASE_URL: "http://127.0.0.1/v1", DESK_URL: "http://desk.house.dev" },
      ["HOUSE_BASE_URL holds an address of this machine", "DESK_URL holds an address without TLS"],
    ],
  ])("fails for the variables %j", async (variables, messages) => {
    write({ variables: { ...VARIABLES, ...variables } });
    const { exitCode, findings, all } = await check();
    for (const message of messages) {
      expect(errorsOf(findings)).toContainEqual(expect.stringContaining(message));
    }
    expect(exitCode).toBe(1);
    expect(all).not.toContain("sk-open");
  });

  test("warns of an address of an example, and of no other", async () => {
    const addresses = Object.entries({
      HOUSE_BASE_URL: ["https://example.com.house.dev/v1", false],
      DESK_URL: ["https://example.com", true],
      A_URL: ["https://api.EXAMPLE.org/v1", true],
      B_URL: ["https://api.example.net:8443/v1", true],
      C_URL: ["https://myexample.com", false],
      D_URL: ["https://house.dev/example.com", false],
    } as const);
    const upstreams = `{ desk: "DESK_URL", a: "A_URL", b: "B_URL", c: "C_URL", d: "D_URL" }`;
    project.write("src/index.ts", ENTRY.replace('{ desk: "DESK_URL" }', upstreams));
    write({ variables: Object.fromEntries(addresses.map(([name, [address]]) => [name, address])) });
    const { exitCode, findings } = await check();
    const warned = findings.filter(({ level }) => level === "warning");
    const expected = addresses.filter(([, [, isExample]]) => isExample).map(([name]) => name);
    expect(warned.map(({ message }) => message).toSorted()).toEqual(
      expected
        .toSorted()
        .map((name) => `${name} holds an address of an example. Set the address of your service`),
    );
    expect(exitCode).toBe(0);
  });

  test("refuses an environment that does not exist, and lists those that do", async () => {
    const { stderr, exitCode } = await project.run(["check", "--env", "nope"]);
    expect(stderr.trim()).toBe("wrangler.toml has no environment nope; it has production.");
    expect(exitCode).toBe(1);
  });

  test.each([
    ['{\n  "allowedTools": [],\n}\n', 3],
    ['{\n  "allowedTools": [core],\n  "budgets": {}\n}\n', 2],
    ['{\n  "currency": "EUR\n}\n', 2],
    ['{\n  "allowedTools": [\n    "core__calculate"\n', 4],
    ["{}\n\n{}\n", 3],
  ])("names the line where a document is no JSON: %j: line %i", (text, line) => {
    project.write("tenant/policy.json", text);
    expect(() => readJsonFile(join(project.path, "tenant/policy.json"))).toThrow(
      `tenant/policy.json:${line}: `,
    );
  });

  test("fails for a document that is no JSON", async () => {
    project.write("tenant/policy.json", "{");
    const { exitCode, findings } = await check();
    const message = expect.stringContaining("tenant/policy.json:1: ") as string;
    expect([exitCode, findings]).toEqual([1, [{ level: "error", place: "tenant", message }]]);
  });

  test("fails for an issuer whose keys come from this machine", async () => {
    const auth = { issuer: "https://id.example", audience: "a", algorithms: ["RS256"] };
    const AUTH = JSON.stringify({ ...auth, jwksUrl: "http://localhost/jwks" });
    write({ variables: { ...VARIABLES, AUTH } });
    expect(errorsOf((await check()).findings)).toEqual([
      "AUTH holds an address of this machine, which a deployment cannot reach",
    ]);
  });

  test("finds a KV namespace that another environment has too", async () => {
    const shared = (prefix: string): string =>
      bindings(prefix).replace('binding = "POLICY"', 'binding = "POLICY"\nid = "abc"');
    write({ top: shared(""), production: shared("env.production.") });
    expect(errorsOf((await check()).findings)).toEqual([
      "POLICY is the namespace of the top level of wrangler.toml too. Use one of its own",
    ]);
  });

  test("finds a tool that still says what the scaffold wrote, or whose arguments decide what it does", async () => {
    using made = new ProjectFolder();
    const entry = ENTRY.replace(
      /import \{ CORE_TOOLS.*/,
      'import { TOOLS } from "./tools/index.ts";',
    );
    made.write("src/index.ts", entry.replace("tools: CORE_TOOLS", "tools: TOOLS"));
    made.write("src/tools/index.ts", "export const TOOLS = [];\n");
    made.write("wrangler.toml", COMMON + OBJECTS + bindings(""));
    const tool = ["new", "tool", "shelf", "send_book", "--effect", "external_side_effect"];
    expect((await made.run(tool)).exitCode).toBe(0);
    const file = join(made.path, "src/tools/shelf/send-book.ts");
    const valibot = JSON.stringify(join(PACKAGE_FOLDER, "node_modules/valibot/dist/index.mjs"));
    const text = readFileSync(file, "utf8")
      .replace('"interlock-edge/tools"', source("exports/tools.ts"))
      .replace('"valibot"', valibot);
    writeFileSync(file, text);
    const { stdout, exitCode } = await made.run(["check"]);
    for (const said of [
      'description still says "Tell the model when to use this tool',
      'describe still says "Say here what cannot be taken back."',
      'verification still says "Name here what was changed."',
    ]) {
      expect(stdout).toContain(`error   shelf__send_book: ${said}`);
    }
    expect(exitCode).toBe(1);
    const written = ["Tell the model", "Say here", "Name here"];
    writeFileSync(
      file,
      written
        .reduce((now, words) => now.replace(words, "It is said that"), text)
        .replaceAll(/\btext\b/g, "script"),
    );
    const renamed = (await made.run(["check"])).stdout;
    expect(renamed).not.toContain("still says");
    expect(renamed).toContain("warning shelf__send_book: script takes any text");
  });

  test("finds stale compiled contracts and a stale lock", async () => {
    using stale = new ProjectFolder();
    stale.write("src/index.ts", ENTRY);
    stale.write("wrangler.toml", COMMON + OBJECTS + bindings(""));
    stale.write(".interlock/contracts.js", "export const COMPILED = { ok: true, value: [] };\n");
    stale.write("contracts.lock/core__calculate@1.0.0.json", "{}");
    const { stdout, exitCode } = await stale.run(["check"]);
    expect(stdout).toContain(
      "the compiled contracts do not match the code; run npx interlock build",
    );
    expect(stdout).toContain("error   contracts.lock: the lock is");
    expect(exitCode).toBe(1);
  });

  test("finds what the deployment would refuse in each document", async () => {
    const provider = { wire: "openai", baseUrl: "http://localhost:1/v1", models: [{ name: "m" }] };
    const documents = {
      "assistants/a": [{ toolIds: ["core__generate_title"] }, "/toolIds/0: is not offered"],
      "assistants/b": [{ model: "gone" }, "/model: is not a model of this deployment"],
      "providers/own": [
        { ...provider, apiKey: { variable: "K" } },
        "/baseUrl: is no public https address",
      ],
    } as const;
    for (const [key, [document]] of Object.entries(documents)) {
      project.write(`tenant/${key}.json`, document);
    }
    const { exitCode, findings } = await check();
    expect(errorsOf(findings)).toEqual(
      Object.values(documents).map(([, message]) => expect.stringContaining(message) as string),
    );
    expect(exitCode).toBe(1);
  });

  test.each([
    [{ tools: [] }, 1, "/allowedTools: expected this field"],
    [
      '{\n  "allowedTools": [\n    "core__calculate",\n    7\n  ]\n}\n',
      4,
      "/allowedTools/1: expected",
    ],
    ['{\n  "allowedTools": [],\n  "budgets": { "maxSteps": "many" }\n}\n', 3, "/budgets/maxSteps"],
    ['{\n  "allowedTools": [\n    "core__calculate",\n    "no__tool"\n  ]\n}\n', 4, "no such tool"],
  ])("names the line of a wrong field of the policy: %j: line %i", async (text, line, message) => {
    project.write("tenant/policy.json", text);
    const { findings } = await check();
    const said = findings.map(({ place, message: words }) => `${place}: ${words}`);
    const found = said.find((words) => words.includes(`tenant/policy.json:${line}: `));
    expect(found).toContain(message);
  });

  test("warns of what is valid and cannot work, with file and line", async () => {
    write({ variables: { ...VARIABLES, MODELS: "house,respones:house,llama3:8b" } });
    const lines = (...texts: readonly string[]): string => texts.join("\n");
    project.write("tenant/people.json", {
      tenantId: "dev",
      people: { ann: { roles: ["finance"] } },
    });
    project.write(
      "tenant/policy.json",
      lines(
        '{ "allowedTools": ["core__calculate"],',
        '  "approvals": [{ "pattern": "dual_control",',
        '    "roles": ["finance", "finanse"] }],',
        '  "workspaces": { "studio": {',
        '    "roles": ["fiance"] } } }',
      ),
    );
    project.write(
      "tenant/assistants/support.json",
      lines('{ "heading": "Help",', '  "instructions": "On plan {{context.plan}}" }'),
    );
    const { findings } = await check();
    const warned = findings.filter(({ level }) => level === "warning");
    expect(warned.map(({ place, message }) => `${place} ${message}`)).toEqual([
      expect.stringMatching(/^wrangler\.toml:\d+ MODELS: entry 2 begins almost like responses:/),
      "tenant/policy.json:3 /approvals/0/roles/1: no person of tenant/people.json has this role",
      "tenant/policy.json:5 /workspaces/studio/roles/0: no person of tenant/people.json has this role",
      expect.stringMatching(
        /^tenant\/assistants\/support\.json:2 \/instructions: \{\{context\.plan\}\} has no value/,
      ),
    ]);
  });

  test("asks the providers which models retire, when it is told to", async () => {
    const list = { object: "list", data: [{ id: "house", shutdown_date: inDays(30) }] };
    await using provider = await providerOf(list);
    write({ variables: { ...VARIABLES, HOUSE_BASE_URL: `${provider.origin}/v1` } });
    project.write("secrets.env", SECRETS.map((name) => `${name}=x`).join("\n"));
    const { findings } = await check(["--secrets", "secrets.env", "--ask-providers"]);
    expect(errorsOf(findings)).toContainEqual(
      expect.stringContaining(`house retires on ${inDays(30)}`),
    );
  });
});
