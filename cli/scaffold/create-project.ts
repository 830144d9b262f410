import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join, relative, resolve } from "node:path";
import { CommandError, UsageError } from "../command.ts";
import { PACKAGE_FOLDER } from "../project/folders.ts";

/** The upstreams of each template: name, setting, and the address in each environment. */
export const TEMPLATES = {
  minimal: [],
  desk: [
    {
      setting: "DESK_URL",
      dev: "http://127.0.0.1:8790",
      staging: "https://desk.staging.example.com",
      production: "https://desk.example.com",
    },
  ],
} as const satisfies Record<string, readonly Record<string, string>[]>;

export type Template = keyof typeof TEMPLATES;

interface ProjectChoices {
  readonly template: Template;
  /** A packed package on this machine, to install instead of the one in the registry. */
  readonly tarball: string | undefined;
}

/** The name of a Worker and of an npm package. */
const NAME = /^[a-z][a-z0-9-]{0,53}$/;

/**
 * Makes a deployment in a new folder of the current one.
 * Fails: throws a UsageError on a bad name, a CommandError when the folder is not empty.
 */
export function createProject(name: string, { template, tarball }: ProjectChoices): void {
  if (!NAME.test(name)) {
    throw new UsageError(
      `${JSON.stringify(name)} is no name for a project: use up to 54 lower-case letters, digits ` +
        "and hyphens, a letter first.",
    );
  }
  const target = resolve(name);
  if (existsSync(target) && readdirSync(target).length > 0) {
    throw new CommandError(`The folder ${target} is not empty. Nothing was written.`);
  }
  const source = tarball === undefined ? undefined : resolve(tarball);
  if (source !== undefined && !existsSync(source)) {
    throw new CommandError(`There is no file ${source}. Nothing was written.`);
  }
  mkdirSync(target, { recursive: true });
  for (const part of ["base", template]) {
    cpSync(join(PACKAGE_FOLDER, "templates", part), target, { recursive: true });
  }
  // npm leaves a file named .gitignore out of a package.
  renameSync(join(target, "gitignore"), join(target, ".gitignore"));
  fill(join(target, "README.md"), name, template);
  fill(join(target, "wrangler.toml"), name, template);
  writeFileSync(
    join(target, "package.json"),
    manifestOf({ name, template, target, tarball: source }),
  );
}

/** Replaces the placeholders of a copied file. */
function fill(file: string, name: string, template: Template): void {
  const upstreams: readonly Record<string, string>[] = TEMPLATES[template];
  const text = readFileSync(file, "utf8")
    .replaceAll("{{name}}", name)
    .replaceAll(/#\{\{upstreams:(\w+)\}\}\n/g, (_placeholder, environment: string) =>
      upstreams.map((upstream) => `${upstream["setting"]} = "${upstream[environment]}"\n`).join(""),
    );
  writeFileSync(file, text);
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** Packages of a new project, in the versions with which this package was tested. */
const TOOLCHAIN = [
  "@cloudflare/workers-types",
  "@types/node",
  "node",
  "typescript",
  "vitest",
  "wrangler",
] as const;

interface Project extends ProjectChoices {
  readonly name: string;
  readonly target: string;
}

function manifestOf({ name, template, target, tarball }: Project): string {
  const own = JSON.parse(readFileSync(join(PACKAGE_FOLDER, "package.json"), "utf8")) as Manifest;
  const { valibot = "" } = own.dependencies;
  const interlock = tarball === undefined ? `^${own.version}` : `file:${relative(target, tarball)}`;
  const manifest = {
    name,
    private: true,
    type: "module",
    scripts: {
      dev: "interlock dev",
      ...(template === "desk" && { desk: "node desk/service.mjs" }),
      build: "interlock build",
      check: "interlock build && tsc -p . && interlock contracts check",
      test: "npm run -s check && vitest run && interlock contracts test",
    },
    dependencies: { [own.name]: interlock, valibot },
    devDependencies: Object.fromEntries(
      TOOLCHAIN.map((tool) => [tool, own.devDependencies[tool] ?? "*"]),
    ),
    engines: { node: ">=20" },
    // Packages whose install scripts fetch or choose a binary for this machine.
    allowScripts: { esbuild: true, node: true, workerd: true },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
