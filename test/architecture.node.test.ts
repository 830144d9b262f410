import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { cruise } from "dependency-cruiser";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");
const scratch: string[] = [];
afterAll(() => {
  for (const directory of scratch) rmSync(directory, { recursive: true, force: true });
});

interface Report {
  readonly summary: {
    readonly violations: readonly {
      readonly from: string;
      readonly rule: { readonly name: string };
    }[];
  };
}

/** The folders that `npm run check:imports` reads. */
const ROOMS = ["src", "durable-objects", "apps", "cli", "scripts"] as const;

/** Rules of `npm run check:imports`, and how dependency-cruiser reads the sources. */
async function readRules(): Promise<{ readonly options: object }> {
  const path = join(root, ".dependency-cruiser.mjs");
  const module = (await import(path)) as { readonly default: { readonly options: object } };
  return module.default;
}

/** What each folder may import. */
interface Folder {
  readonly inside: readonly string[];
  readonly files?: readonly string[];
  readonly packages: readonly string[];
}

async function readFolders(): Promise<Readonly<Record<string, Folder>>> {
  const path = join(root, ".dependency-cruiser.mjs");
  return ((await import(path)) as { readonly FOLDERS: Readonly<Record<string, Folder>> }).FOLDERS;
}

/** Lays out trees of source files beside each other; answers which rules each of them breaks. */
async function rulesBrokenIn(trees: readonly Files[]): Promise<readonly (readonly string[])[]> {
  const directory = mkdtempSync(join(tmpdir(), "interlock-imports-"));
  scratch.push(directory);
  symlinkSync(join(root, "node_modules"), join(directory, "node_modules"));
  for (const folder of ROOMS) mkdirSync(join(directory, folder));
  for (const [file, source] of trees.flatMap((files) => Object.entries(files))) {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    writeFileSync(join(directory, file), source);
  }
  const { options, ...ruleSet } = await readRules();
  const how = { ...options, ruleSet, validate: true, baseDir: directory };
  const { output } = await cruise([...ROOMS], how);
  const { violations } = (output as unknown as Report).summary;
  return trees.map((files) => {
    const broken = violations.filter(({ from }) => Object.hasOwn(files, from));
    return [...new Set(broken.map(({ rule }) => rule.name))];
  });
}

type Files = Readonly<Record<string, string>>;

async function rulesBrokenBy(files: Files): Promise<readonly string[]> {
  return (await rulesBrokenIn([files]))[0] ?? [];
}

test("npm run check:imports reads every room", () => {
  expect(readFileSync(join(root, "package.json"), "utf8")).toContain(`.mjs ${ROOMS.join(" ")}"`);
});

test("the pages reach a deployment through the client alone", () => {
  const own = globSync("{src/widget,apps/*/page}/**/*.ts", { cwd: root }).filter((file) =>
    /\bfetch\(|\bEventSource\b|XMLHttpRequest|send-authorised/.test(
      readFileSync(join(root, file), "utf8"),
    ),
  );
  // It asks the embedding page's own server for a token.
  expect(own).toEqual(["src/widget/launcher/token-source.ts"]);
});

test("docs/architecture.md lists what each folder may import", async () => {
  const cells = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");
  const page = readFileSync(join(root, "docs/architecture.md"), "utf8");
  const [, table = ""] = /\n\| from +\|[^\n]*\n\|[^\n]*\n((?:\|[^\n]*\n)+)/.exec(page) ?? [];
  const written = table
    .trimEnd()
    .split("\n")
    .map((row) => row.replace(/ +/g, " "));
  const rules = Object.entries(await readFolders()).map(
    ([folder, { inside, files = [], packages }]) =>
      `| \`${folder}\` | ${cells([...inside, ...files])} | ${cells(packages)} |`.replace(
        / +/g,
        " ",
      ),
  );
  expect(written).toEqual(rules);
});

const target = (file: string): Files => ({
  [file]: "export const thing = 1; export type Thing = number;",
});

type Planted = readonly [folder: string, file: string, other: string, specifier: string];
const PLANTED: readonly Planted[] = [
  ["protocol", "src/protocol/a.ts", "src/capabilities/b.ts", "../capabilities/b.ts"],
  ["env", "src/env.ts", "src/adapters/b.ts", "./adapters/b.ts"],
  ["capabilities", "src/capabilities/a.ts", "src/wire/b.ts", "../wire/b.ts"],
  ["wire", "src/wire/openai/a.ts", "src/capabilities/b.ts", "../../capabilities/b.ts"],
  ["contracts", "src/contracts/a.ts", "src/runner/b.ts", "../runner/b.ts"],
  ["core-tools", "src/core-tools/a.ts", "src/adapters/b.ts", "../adapters/b.ts"],
  ["apps", "apps/a/b.ts", "src/contracts/b.ts", "../../src/contracts/b.ts"],
  ["page", "apps/a/page/a.ts", "src/http/b.ts", "../../../src/http/b.ts"],
  ["apps", "apps/a/b.ts", "src/widget/b.ts", "../../src/widget/b.ts"],
  ["widget", "src/widget/a.ts", "apps/a/page/b.ts", "../../apps/a/page/b.ts"],
  ["client", "src/client/a.ts", "src/http/b.ts", "../http/b.ts"],
  ["core-tools", "src/core-tools/a.ts", "apps/a/b.ts", "../../apps/a/b.ts"],
  ["runner", "src/runner/a.ts", "src/wire/b.ts", "../wire/b.ts"],
  ["loop", "src/loop/a.ts", "src/core-tools/b.ts", "../core-tools/b.ts"],
  ["workspace", "src/workspace/a.ts", "src/runner/b.ts", "../runner/b.ts"],
  ["run", "src/run/a.ts", "durable-objects/b.ts", "../../durable-objects/b.ts"],
  ["conversation", "src/conversation/a.ts", "src/run/b.ts", "../run/b.ts"],
  ["run", "src/run/a/b.ts", "src/loop/b.ts", "../../loop/b.ts"],
  ["adapters", "src/adapters/a.ts", "src/contracts/b.ts", "../contracts/b.ts"],
  ["telemetry", "src/telemetry/a.ts", "src/capabilities/b.ts", "../capabilities/b.ts"],
  ["http", "src/http/a.ts", "src/adapters/b.ts", "../adapters/b.ts"],
  ["widget", "src/widget/a.ts", "src/http/b.ts", "../http/b.ts"],
  ["compose", "src/compose/a.ts", "src/widget/b.ts", "../widget/b.ts"],
  ["durable-objects", "durable-objects/a.ts", "src/runner/b.ts", "../src/runner/b.ts"],
  ["testing", "src/testing/a.ts", "src/compose/b.ts", "../compose/b.ts"],
  ["testing", "src/testing/a.ts", "durable-objects/b.ts", "../../durable-objects/b.ts"],
  ["define-deployment", "src/define-deployment.ts", "src/http/b.ts", "./http/b.ts"],
  ["host-workspaces", "src/host-workspaces.ts", "src/http/b.ts", "./http/b.ts"],
  ["replay-runs", "src/replay-runs.ts", "src/runner/b.ts", "./runner/b.ts"],
  ["otlp-traces", "src/otlp-traces.ts", "src/runner/b.ts", "./runner/b.ts"],
  ["exports", "src/exports/a.ts", "src/runner/b.ts", "../runner/b.ts"],
  ["index", "src/index.ts", "src/adapters/b.ts", "./adapters/b.ts"],
  ["http", "src/http/a.ts", "cli/b.ts", "../../cli/b.ts"],
  ["testing", "src/testing/fakes/a.ts", "cli/b.ts", "../../../cli/b.ts"],
  ["durable-objects", "durable-objects/a.ts", "cli/b.ts", "../cli/b.ts"],
  ["apps", "apps/a/b.ts", "cli/b.ts", "../../cli/b.ts"],
  ["cli", "cli/push/a.ts", "scripts/b.ts", "../../scripts/b.ts"],
  ["cli", "cli/a.ts", "durable-objects/b.ts", "../durable-objects/b.ts"],
  ["cli", "cli/a.ts", "apps/a/b.ts", "../apps/a/b.ts"],
  ["cli", "cli/a.ts", "src/widget/b.ts", "../src/widget/b.ts"],
  ["cli", "cli/a.ts", "test/fakes/b.ts", "../test/fakes/b.ts"],
  ["scripts", "scripts/chaos/a.ts", "test/shared/b.ts", "../../test/shared/b.ts"],
];

describe("a planted violation is found", () => {
  let found: readonly (readonly string[])[];
  beforeAll(async () => {
    const trees = PLANTED.map(([, file, other, specifier], nth) => ({
      ...target(other),
      [file.replace(/\/[ab]\.ts$/, `/planted-${nth}.ts`)]:
        `import { thing } from "${specifier}"; export const use = thing;`,
    }));
    found = await rulesBrokenIn(trees);
  });

  test.each(PLANTED.map(([folder, file], nth) => [folder, file, nth] as const))(
    "in %s: %s",
    (folder, _file, nth) => expect(found[nth]).toEqual([`${folder}-imports`]),
  );

  test("in every folder that has a rule", async () => {
    expect(new Set(PLANTED.map(([folder]) => folder))).toEqual(
      new Set(Object.keys(await readFolders())),
    );
  });

  test("when only a type is imported", async () => {
    const broken = await rulesBrokenBy({
      ...target("src/http/b.ts"),
      "src/protocol/a.ts": 'import type { Thing } from "../http/b.ts"; export type Use = Thing;',
    });
    expect(broken).toEqual(["protocol-imports"]);
  });

  test("when the deployed Worker reaches what registers contracts, however far away", async () => {
    const broken = await rulesBrokenBy({
      ...target("src/contracts/check/register.ts"),
      "src/contracts/a.ts": 'export { thing } from "./check/register.ts";',
      "src/define-deployment.ts": 'export { thing } from "./contracts/a.ts";',
      "src/index.ts": 'export { thing } from "./define-deployment.ts";',
    });
    expect(broken).toEqual(["contracts-are-compiled"]);
  });

  test("when anything but the entry reads what the build compiled", async () => {
    const read = 'import { COMPILED } from "../.interlock/contracts.js"; export { COMPILED };';
    expect(await rulesBrokenBy({ "src/index.ts": read })).toEqual([]);
    expect(await rulesBrokenBy({ "src/http/a.ts": read })).toEqual(["http-imports"]);
  });

  test("when a package is not on the folder's list", async () => {
    const broken = await rulesBrokenBy({
      "src/runner/a.ts": 'import * as v from "valibot"; export const use = v.string;',
    });
    expect(broken).toEqual(["runner-imports"]);
  });

  test("when a package is not on the list of cli, which may import what Node brings along", async () => {
    const broken = await rulesBrokenBy({
      "cli/a.ts": 'import { join } from "node:path"; export const use = join;',
    });
    expect(broken).toEqual([]);
    const missing = await rulesBrokenBy({
      "cli/a.ts": 'import { chromium } from "playwright-core"; export const use = chromium;',
    });
    expect(missing).toEqual(["cli-imports"]);
  });

  test("when the platform is imported outside the objects", async () => {
    const broken = await rulesBrokenBy({
      "src/http/a.ts": 'import { env } from "cloudflare:workers"; export const use = env;',
    });
    expect(broken).toEqual(["http-imports"]);
  });

  test("in a cycle, of types too", async () => {
    const broken = await rulesBrokenBy({
      "src/protocol/a.ts": 'import type { B } from "./b.ts"; export type A = B;',
      "src/protocol/b.ts": 'import type { A } from "./a.ts"; export type B = A;',
    });
    expect(broken).toEqual(["no-cycles"]);
  });

  test("in a folder that has no rule", async () => {
    const broken = await rulesBrokenBy({
      ...target("src/protocol/b.ts"),
      "src/utils/a.ts": 'import { thing } from "../protocol/b.ts"; export const use = thing;',
    });
    expect(broken).toEqual(["no-stray-folder"]);
  });
});
