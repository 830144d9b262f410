import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { parseSync } from "oxc-parser";
import { PACKAGE_FOLDER } from "../cli/project/folders.ts";

const REPORT = "docs/public-api.txt";
const USAGE = "Usage: node scripts/api-report.ts [--update]";

main();

/**
 * Compares the public surface of the package with the report that is checked in, or writes it: each
 * name that authors can import, and every declaration that those reach.
 */
function main(): void {
  const { values } = parseArgs({ options: { update: { type: "boolean", default: false } } });
  const declarations = mkdtempSync(join(tmpdir(), "interlock-api-"));
  try {
    const report = writeReport(compileDeclarations(declarations));
    const file = join(PACKAGE_FOLDER, REPORT);
    if (values.update) writeFileSync(file, report);
    else if (!existsSync(file) || readFileSync(file, "utf8") !== report) {
      console.error(`${REPORT} is not the public surface of the code. ${USAGE}`);
      process.exitCode = 1;
    }
  } finally {
    rmSync(declarations, { recursive: true, force: true });
  }
}

function compileDeclarations(target: string): string {
  const tsc = join(PACKAGE_FOLDER, "node_modules/typescript/bin/tsc");
  // `check:lint` checks the types.
  const flags = "--noCheck --emitDeclarationOnly --sourceMap false --inlineSources false".split(
    " ",
  );
  const args = [tsc, "-p", "tsconfig.package.json", "--outDir", target, ...flags];
  execFileSync(process.execPath, args, { cwd: PACKAGE_FOLDER, stdio: "inherit" });
  return target;
}

/** One statement of a declaration file. */
interface Declaration {
  readonly text: string;
  /** Names that the statement mentions. */
  readonly mentions: ReadonlySet<string>;
}

interface Module {
  readonly declarations: ReadonlyMap<string, readonly Declaration[]>;
  /** Local name of what is imported or exported from another module: file and name there. */
  readonly links: ReadonlyMap<string, readonly [file: string, name: string]>;
}

function writeReport(folder: string): string {
  const text = readFileSync(join(PACKAGE_FOLDER, "package.json"), "utf8");
  const { name, exports } = JSON.parse(text) as {
    readonly name: string;
    readonly exports: Readonly<Record<string, { readonly types: string }>>;
  };
  const modules = new Map<string, Module>();
  const open = (file: string): Module => {
    const known = modules.get(file) ?? readModule(file);
    modules.set(file, known);
    return known;
  };
  const reached = new Map<string, string>();
  const lines: string[] = [];
  for (const [path, { types }] of Object.entries(exports)) {
    const file = resolve(folder, relative("dist/package", types));
    const names = [...exportedNames(file)].toSorted();
    lines.push(`${name}${path.slice(1)}: ${names.join(", ")}`);
    for (const exported of names) reach(open, [file, exported], reached);
  }
  const declarations = [...reached]
    .map(([key, declared]) => `// ${relative(folder, key)}\n${declared}`)
    .toSorted();
  return `${lines.join("\n")}\n\n${declarations.join("\n\n")}\n`;
}

/** Follows a name to its declaration, and on to everything that the declaration mentions. */
function reach(
  open: (file: string) => Module,
  [file, name]: readonly [string, string],
  reached: Map<string, string>,
): void {
  const { declarations, links } = open(file);
  const link = links.get(name);
  if (link) return reach(open, link, reached);
  const found = declarations.get(name);
  const key = `${file}#${name}`;
  if (!found || reached.has(key)) return;
  reached.set(key, found.map(({ text }) => text).join("\n"));
  for (const { mentions } of found) {
    for (const mentioned of mentions) reach(open, [file, mentioned], reached);
  }
}

function exportedNames(file: string): ReadonlySet<string> {
  const { module } = parseSync(file, readFileSync(file, "utf8"));
  const names = module.staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ exportName }) => exportName.name ?? []),
  );
  return new Set(names);
}

function readModule(file: string): Module {
  const source = readFileSync(file, "utf8");
  const { program, module } = parseSync(file, source);
  const links = new Map<string, readonly [string, string]>();
  const declarations = new Map<string, Declaration[]>();
  for (const { moduleRequest, entries } of module.staticImports) {
    const target = targetOf(file, moduleRequest.value);
    for (const { localName, importName } of entries) {
      if (target !== undefined) links.set(localName.value, [target, importName.name ?? "default"]);
    }
  }
  for (const { entries } of module.staticExports) {
    for (const { moduleRequest, importName, exportName } of entries) {
      const target = moduleRequest && targetOf(file, moduleRequest.value);
      if (target !== undefined && target !== null && exportName.name !== null) {
        links.set(exportName.name, [target, importName.name ?? exportName.name]);
      }
    }
  }
  for (const statement of program.body) {
    const declared = "declaration" in statement && statement.declaration;
    for (const name of namesOf(declared || statement)) {
      const text = withoutComments(source.slice(statement.start, statement.end));
      const entry = { text, mentions: new Set(text.match(/[A-Za-z_$][\w$]*/g)) };
      declarations.set(name, [...(declarations.get(name) ?? []), entry]);
    }
  }
  return { declarations, links };
}

/** The names that a statement declares. */
function namesOf(node: object): readonly string[] {
  const named = node as {
    readonly id?: { readonly name?: string } | null;
    readonly declarations?: readonly { readonly id: { readonly name?: string } }[];
  };
  const ids = [named.id, ...(named.declarations ?? []).map(({ id }) => id)];
  return ids.flatMap((id) => id?.name ?? []);
}

/** Comments may change without changing the surface. */
function withoutComments(text: string): string {
  return text
    .replaceAll(/\/\*\*?[\s\S]*?\*\//g, "")
    .replaceAll(/[ \t]+$/gm, "")
    .replaceAll(/\n{2,}/g, "\n");
}

/** Undefined for what another package declares. */
function targetOf(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  return resolve(dirname(file), specifier.replace(/\.(?:ts|js)$/, ".d.ts"));
}
