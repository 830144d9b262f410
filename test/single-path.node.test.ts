import { globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { transformSync } from "esbuild";
import { describe, expect, test } from "vitest";

/**
 * The single execution path, held by a text search (seeds/000 #31): types and comments are removed
 * first, so a cast hides nothing.
 */
const ROOT = resolve(import.meta.dirname, "..");

/** The one file of a Worker that calls a contract's `execute`. */
const BINDS = "src/contracts/bind/bind-tool.ts";
/** Takes the author's functions off the contract and seals them. */
const DEFINES = "src/contracts/define/define-tool.ts";
const SEALS = "src/contracts/define/author-code.ts";
/** Checks that the sealed functions are functions. */
const CHECKS = "src/contracts/check/shape.ts";
/** Checks that a contract has one, by name. */
const COMPARES = "src/contracts/check/consistency.ts";
/** Says in words what the gate of that name refused. */
const EXPLAINS = "src/protocol/run/words.ts";
/** The one file that issues tickets and runs bound tools. */
const DISPATCHES = "src/runner/execute-call.ts";
const TICKETS = "src/contracts/bind/dispatch-ticket.ts";
/** Reads the name of the gate in records of calls; it knows no contract. */
const COUNTS = "src/run/notices/refusal-tally.ts";
/** The same, in an exported audit log. */
const EVALUATES = "cli/evaluate/modes.ts";
/** Replay replaces bound tools by recordings, which run nothing. */
const REPLAYS = "src/loop/replay/tools.ts";
/** Wraps a tool of an author's test, which the runner still calls; no Worker has this file. */
const MEASURES = "src/testing/work-meter.ts";
/** `interlock contracts test` tries contracts with these; no Worker has the files. */
const TRIES = "src/testing/fakes/fakes.ts";
const FORBIDS = "src/testing/fakes/evidence.ts";
/** The same command counts calls, and makes the first attempt of a call fail. */
const RECORDS = "cli/contracts/test/trial.ts";
const REPEATS = "cli/contracts/test/modes/idempotency.ts";
/** The same command runs a contract's operation, which finds nothing or refuses. */
const REFUSES = "cli/contracts/test/modes/vain-questions.ts";
/** What a bundle seals, the command that loaded the bundle can open. */
const LOADS = "cli/project/load-deployment.ts";

const RULES: readonly { readonly pattern: RegExp; readonly allowedIn: readonly string[] }[] = [
  // contract.execute, contract?.execute, contract["execute"], Reflect.get(contract, "execute")
  { pattern: /\.\s*execute\b/, allowedIn: [BINDS, MEASURES, RECORDS, REPEATS, REFUSES] },
  { pattern: /["'`]execute["'`]/, allowedIn: [DISPATCHES, COUNTS, COMPARES, EXPLAINS, EVALUATES] },
  // Who opens the seal can call every function of an author that gets capabilities.
  {
    pattern: /\brevealCode\b/,
    allowedIn: [SEALS, BINDS, CHECKS, MEASURES, FORBIDS, RECORDS, REFUSES],
  },
  {
    pattern: /(\*|\w+)\s*(as\s+\w+\s+)?from\s*"[^"]*author-code|\(\s*"[^"]*author-code/,
    allowedIn: [LOADS],
  },
  { pattern: /\bperformDispatched\b/, allowedIn: [BINDS, DISPATCHES, REPLAYS, TRIES] },
  { pattern: /\bissueTicket\b/, allowedIn: [TICKETS, DISPATCHES, TRIES] },
  { pattern: /\bredeemTicket\b/, allowedIn: [TICKETS, BINDS, REPLAYS] },
];
/** const { execute } = contract. Tools and the shape of contracts define the property instead. */
const TAKEN_APART = {
  pattern: /[{,]\s*execute\s*[,}:=]/,
  allowedIn: [DEFINES, CHECKS, MEASURES, FORBIDS],
};

type Sources = ReadonlyMap<string, string>;

const isToolFile = (file: string): boolean => /^(src\/core-tools|apps\/[^/]+\/tools)\//.test(file);

function bypassesIn(sources: Sources): readonly string[] {
  return [...sources].flatMap(([file, source]) => {
    const { code } = transformSync(source, { loader: "ts", legalComments: "none" });
    const searched = code.replaceAll('"tool.execute"', '""');
    const rules = isToolFile(file) ? RULES : [...RULES, TAKEN_APART];
    return rules
      .filter(({ pattern, allowedIn }) => pattern.test(searched) && !allowedIn.includes(file))
      .map(({ pattern }) => `${file}: ${pattern.source}`);
  });
}

/** A pack's list imports tools; a file that defines a tool imports none. */
function toolImportsIn(sources: Sources): readonly string[] {
  const defines = (source: string | undefined): boolean =>
    /\bdefine(?:Core)?Tool\(/.test(source ?? "");
  return [...sources]
    .filter(([file, source]) => isToolFile(file) && defines(source))
    .flatMap(([file, source]) =>
      [...source.matchAll(/from\s+"(\.[^"]+)"|import\(\s*"(\.[^"]+)"/g)]
        .map(([, from, imported]) => join(dirname(file), from ?? imported ?? ""))
        .filter((target) => isToolFile(target) && defines(sources.get(target)))
        .map((target) => `${file} imports ${target}`),
    );
}

function readSources(): Map<string, string> {
  const files = globSync(
    ["src/**/*.ts", "durable-objects/**/*.ts", "apps/*/tools/**/*.ts", "cli/**/*.ts"],
    { cwd: ROOT },
  );
  return new Map(files.map((file) => [file, readFileSync(join(ROOT, file), "utf8")]));
}

const sources = readSources();

test("one file calls a contract, one file runs bound tools, and no tool imports another", () => {
  expect(sources.size).toBeGreaterThan(300);
  expect(bypassesIn(sources)).toEqual([]);
  expect(toolImportsIn(sources)).toEqual([]);
  // The allowed files still do what they are allowed to do; else the search looks for old names.
  expect(sources.get(BINDS)).toMatch(/\.execute\(/);
  expect(sources.get(DISPATCHES)).toMatch(/\.performDispatched\b/);
});

describe("a planted bypass is found", () => {
  const PLANTS: readonly (readonly [file: string, source: string])[] = [
    ["src/http/tenant/tools.ts", "void contract.execute({}, {}, {});"],
    ["src/http/planted.ts", "await (contract as any)?.execute(args as never, context, caps);"],
    ["src/compose/planted.ts", 'await (contract as unknown as Any)["execute"](args);'],
    ["src/compose/planted.ts", "const { execute } = contract; await execute(args);"],
    ["src/compose/planted.ts", "const { execute: run } = contract; await run(args);"],
    ["src/loop/planted.ts", "await source.getBoundTool(id, version)?.performDispatched(ticket);"],
    ["src/loop/planted.ts", "await (tool as Any).performDispatched({} as DispatchTicket);"],
    [
      "src/loop/planted.ts",
      "const ticket = issueTicket({ toolId, version, args, context, scope });",
    ],
    ["src/adapters/planted.ts", 'const run = Reflect.get(contract, "execute") as Run;'],
    ["src/core-tools/planted.ts", "defineTool({ execute: () => calculate.execute({}) });"],
    ["src/loop/planted.ts", "await revealCode(contract).preview?.(args, context, capabilities);"],
    [
      "src/loop/planted.ts",
      'import * as code from "../contracts/define/author-code.ts"; code["reveal" + "Code"](contract);',
    ],
    ["durable-objects/run/planted.ts", "tool.performDispatched(ticket);"],
  ];

  test.each(PLANTS)("in %s: %s", (file, source) => {
    expect(bypassesIn(new Map([[file, source]]))).not.toEqual([]);
  });

  test("a tool file that imports another tool", () => {
    const planted = new Map(sources);
    const source = 'import { calculate } from "./calculate.ts";\nexport const a = defineTool({});';
    planted.set("src/core-tools/planted.ts", source);
    expect(toolImportsIn(planted)).toEqual([
      "src/core-tools/planted.ts imports src/core-tools/calculate.ts",
    ]);
  });
});

test("comments and types that mention execute are no bypass", () => {
  const source =
    "/** contract.execute */ interface A { execute(): void; performDispatched(): void }";
  expect(bypassesIn(new Map([["src/http/planted.ts", source]]))).toEqual([]);
});
