import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { experimental_getWranglerCommands } from "wrangler";
import { createModelCatalog } from "../../src/protocol/model/catalog.ts";
import { runCommand } from "../shared/command-process.ts";
import { ROOT } from "./code-blocks.ts";

/**
 * Tells what is wrong with a command of the documents that no test runs: its script, subcommand,
 * file or one of its options does not exist. Undefined for a right one.
 */
export async function checkCall([program = "", ...args]: readonly string[]): Promise<
  string | undefined
> {
  switch (program) {
    case "npm":
      return checkNpm(args);
    case "npx":
      return checkNpx(args);
    case "interlock":
      return checkInterlock(args);
    case "bash":
      return missing(args[0]);
    case "MODELS":
      return createModelCatalog([], args[0]).ok ? undefined : `MODELS cannot be ${args[0]}`;
    default:
      return `nothing checks ${program}; see test/docs/check-call.ts`;
  }
}

function missing(file = ""): string | undefined {
  return existsSync(join(ROOT, file)) ? undefined : `there is no file ${file}`;
}

const BUILT_IN: ReadonlySet<string> = new Set(["ci", "test", "install", "pack"]);

async function checkNpm(args: readonly string[], folder = "."): Promise<string | undefined> {
  if (args[0] === "--prefix") return checkNpm(args.slice(2), args[1]);
  // npm exec … -- interlock …
  if (args[0] === "exec") {
    const [program, ...passed] = args.slice(args.indexOf("--") + 1);
    return checkCall([program ?? "", ...passed]);
  }
  const [name = "", ...rest] = args.filter((word) => word !== "-s" && word !== "run");
  if (!args.includes("run")) return BUILT_IN.has(name) ? undefined : `npm has no ${name}`;
  const script = scriptsOf(folder)[name];
  if (script === undefined) {
    return name in (await scriptsOfProject())
      ? undefined
      : `no package.json has the script ${name}`;
  }
  const passed = rest.filter((word) => word !== "--");
  const [, own, other] = /cli\/interlock\.ts (.*)$|npm (--prefix \w+) start/.exec(script) ?? [];
  if (own !== undefined) return checkInterlock([...own.split(" "), ...passed]);
  if (other !== undefined) return checkNpm([...other.split(" "), "run", "start", ...passed]);
  const file = /[\w/-]+\.(?:ts|mjs)/.exec(script)?.[0];
  if (file === undefined) return checkFlags(passed, script);
  return checkFlags(passed, readFileSync(join(ROOT, folder, file), "utf8"));
}

let projectScripts: Readonly<Record<string, string>> | undefined;

/** The scripts of a project that `interlock new` makes. */
async function scriptsOfProject(): Promise<Readonly<Record<string, string>>> {
  if (projectScripts) return projectScripts;
  const folder = mkdtempSync(join(tmpdir(), "interlock-docs-"));
  try {
    await runCommand(["new", "made", "--template", "desk"], folder);
    return (projectScripts = scriptsOf(join(folder, "made")));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function scriptsOf(folder: string): Readonly<Record<string, string>> {
  const text = readFileSync(resolve(ROOT, folder, "package.json"), "utf8");
  return (JSON.parse(text) as { readonly scripts: Readonly<Record<string, string>> }).scripts;
}

async function checkNpx([tool = "", ...args]: readonly string[]): Promise<string | undefined> {
  if (tool === "vitest") return missing(args.at(-1));
  if (tool === "interlock") return checkInterlock(args);
  if (tool !== "wrangler") return `nothing checks npx ${tool}; see test/docs/check-call.ts`;
  return checkWrangler(args);
}

/** A command of wrangler, or a group of them, as its own documentation is made from. */
interface WranglerCommand {
  readonly definition?: { readonly args?: Readonly<Record<string, object>> };
  readonly subtree: ReadonlyMap<string, WranglerCommand>;
}

function checkWrangler(args: readonly string[]): string | undefined {
  const { registry, globalFlags } = experimental_getWranglerCommands();
  let command = registry as WranglerCommand;
  for (const word of args) {
    // A group takes the name of a command, and a command takes arguments and options.
    if (word.startsWith("-") || command.subtree.size === 0) break;
    const named = command.subtree.get(word);
    if (!named) return `wrangler has no ${word}`;
    command = named;
  }
  const flags = [command.definition?.args ?? {}, globalFlags].flatMap(Object.keys);
  return checkFlags(args, flags.join(" "));
}

async function checkInterlock(args: readonly string[]): Promise<string | undefined> {
  const { stdout: text } = await runCommand([args[0] ?? "", "--help"], ROOT);
  return text.includes("Usage: ") ? checkFlags(args, text) : `interlock has no ${args[0]}`;
}

/** Every `--option` stands in the help of its command, or in the code of its script. */
function checkFlags(args: readonly string[], text: string): string | undefined {
  const flag = args
    .filter((word) => /^--\w/.test(word))
    .map((word) => word.slice(2).split("=", 1)[0] ?? "")
    .find((name) => !new RegExp(`(?<![\\w-])(?:--)?${name}(?![\\w-])`).test(text));
  return flag === undefined ? undefined : `there is no option --${flag}`;
}
