import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CommandError, UsageError } from "../command.ts";
import { PACKAGE_FOLDER, projectFolder } from "../project/folders.ts";
import { PLACEHOLDERS } from "./placeholders.ts";

export const EFFECTS = ["read_only", "state_change", "external_side_effect"] as const;
export type Effect = (typeof EFFECTS)[number];

/** What was added. */
export interface AddedTool {
  readonly toolId: string;
  /** Paths in the project. */
  readonly files: readonly string[];
}

const WORD = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;
/** Ids of tools have at most 64 characters. */
const MAX_ID_CHARS = 64;

/**
 * Adds a tool to a pack of the deployment in the current folder: its file, its line in the pack and
 * a test. A new pack is added to the list of tools.
 * Fails: throws a UsageError on a bad name, a CommandError when the tool exists or a list cannot be
 * read. Then nothing was written.
 */
export function addTool(pack: string, name: string, effect: Effect): AddedTool {
  for (const word of [pack, name]) {
    if (WORD.test(word)) continue;
    throw new UsageError(
      `${JSON.stringify(word)} is no name: use lower-case letters, digits and single underscores.`,
    );
  }
  const toolId = `${pack}__${name}`;
  if (toolId.length > MAX_ID_CHARS) throw new UsageError(`${toolId} has over 64 characters.`);
  const project = projectFolder();
  if (project === PACKAGE_FOLDER) {
    throw new CommandError("This is Interlock itself. docs/tools-authoring.md says how to go on.");
  }
  const file = `src/tools/${pack}/${dashed(name)}.ts`;
  if (existsSync(join(project, file))) throw new CommandError(`${file} exists.`);
  const written = new Map([
    [file, toolText(toolId, camel(name), effect)],
    ...packTexts(project, pack, name),
    [`test/${dashed(pack)}-${dashed(name)}.test.ts`, testText({ pack, name, file, effect })],
  ]);
  for (const [path, text] of written) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  return { toolId, files: [...written.keys()] };
}

const dashed = (name: string): string => name.replaceAll("_", "-");
const camel = (name: string): string =>
  name.replaceAll(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());

/** The lists of the pack and, for a new pack, of the deployment, with the tool added. */
function packTexts(project: string, pack: string, name: string): [string, string][] {
  const packFile = `src/tools/${pack}/pack.ts`;
  const list = `${pack.toUpperCase()}_TOOLS`;
  const line = `import { ${camel(name)} } from "./${dashed(name)}.ts";\n`;
  if (existsSync(join(project, packFile))) {
    return [[packFile, insert(project, packFile, { line, item: camel(name), list })]];
  }
  const indexFile = "src/tools/index.ts";
  if (readWords(project, indexFile).includes(list)) {
    throw new CommandError(
      `${indexFile} has another ${list}: ${pack} is the pack of a package. Choose another name.`,
    );
  }
  const packLine = `import { ${list} } from "./${pack}/pack.ts";\n`;
  const item = `...${list}`;
  return [
    [packFile, `${line}\nexport const ${list} = [${camel(name)}] as const;\n`],
    [indexFile, insert(project, indexFile, { line: packLine, item, list: "TOOLS" })],
  ];
}

function readWords(project: string, file: string): readonly string[] {
  return readFileSync(join(project, file), "utf8").match(/\w+/g) ?? [];
}

interface Insertion {
  readonly line: string;
  readonly item: string;
  /** Name of the exported list. */
  readonly list: string;
}

/** Adds an import and an item to an exported list. */
function insert(project: string, file: string, { line, item, list }: Insertion): string {
  const text = readFileSync(join(project, file), "utf8");
  const found = new RegExp(`(export const ${list}\\b[^=]*= \\[)([^\\]]*)\\]`).exec(text);
  if (!found) {
    throw new CommandError(
      `${file} has no list "export const ${list} = [...]". Nothing was written.`,
    );
  }
  const items = [...(found[2] ?? "").split(","), item].map((one) => one.trim()).filter(Boolean);
  const lead = found[1] ?? "";
  const flat = `${lead}${items.join(", ")}]`;
  const rest = text.slice(found.index + found[0].length).split("\n", 1)[0] ?? "";
  const whole =
    flat.length + rest.length <= 100
      ? flat
      : `${lead}\n${items.map((one) => `  ${one},\n`).join("")}]`;
  const changed = text.slice(0, found.index) + whole + text.slice(found.index + found[0].length);
  const imports = [...changed.matchAll(/^import .*;\n/gm)];
  const last = imports.at(-1);
  const at = last ? last.index + last[0].length : 0;
  return changed.slice(0, at) + line + (last ? "" : "\n") + changed.slice(at);
}

/** What differs between the effects. */
const CONTRACTS: Readonly<Record<Effect, string>> = {
  read_only: `  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: ["text"], output: ["text"] },
  capabilities: [],
`,
  state_change: `  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: ["text"], output: ["text"] },
  capabilities: [],
`,
  external_side_effect: `  sideEffectClass: "HIGH_RISK_EXTERNAL",
  effect: "external_side_effect",
  redaction: { args: ["text"], output: ["text"], state: ["text"] },
  capabilities: [],
  transactional: { confirmationRequired: true },
  describe: ({ text }) => ({
    action: \`Send \${text}\`,
    consequence: "${PLACEHOLDERS.consequence}",
  }),
  verification: {
    delaySeconds: 60,
    expect: ({ text }) => ({ reference: "${PLACEHOLDERS.reference}", state: { text } }),
  },
  // Read the state here, and compare it with the expected one. Until then operators learn nothing.
  verify: () => Promise.resolve({ kind: "unknown" }),
`,
};

function toolText(toolId: string, name: string, effect: Effect): string {
  return `import { defineTool, ok } from "interlock-edge/tools";
import * as v from "valibot";

/** Say in one sentence what the tool does. */
export const ${name} = defineTool({
  name: "${toolId}",
  version: "1.0.0",
  description: "${PLACEHOLDERS.description}",
  input: v.strictObject({ text: v.pipe(v.string(), v.maxLength(200)) }),
  output: v.strictObject({ text: v.string() }),
${CONTRACTS[effect]}  execute: ({ text }) => ok({ text }),
});
`;
}

interface TestSubject {
  readonly pack: string;
  readonly name: string;
  readonly file: string;
  readonly effect: Effect;
}

function testText({ pack, name, file, effect }: TestSubject): string {
  const approval = effect === "external_side_effect" ? `, { approvals: [{ by: "ann" }] }` : "";
  return `import { runTool } from "interlock-edge/testing";
import { expect, test } from "vitest";
import { ${camel(name)} } from "../${file}";

test("${pack}__${name} answers", async () => {
  const { data } = await runTool(${camel(name)}, { text: "hello" }${approval});
  expect(data).toEqual({ text: "hello" });
});
`;
}
