import type { CodeBlock } from "./code-blocks.ts";

/** Code around a block that is no whole file. `BLOCK` marks the place of the block. */
interface Fragment {
  readonly file: string;
  readonly has: string;
  readonly around: string;
}

const DEPLOYMENT = `
import type { DeploymentOptions } from "../../define-deployment.ts";
export const options: Partial<DeploymentOptions> = { BLOCK };`;

const CAPABILITIES = `
import type { ToolCapabilities } from "../../capabilities/tool.ts";
export async function useCapabilities({ auth, progress }: ToolCapabilities) {
  BLOCK
  return [auth, progress];
}`;

const OUTCOME = `
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, type Result } from "../../protocol/outcome/result.ts";
export function execute(): Result<never, ToolFailure> { BLOCK }`;

/** A tool of which the block declares a part. */
function toolWith(fields: string): string {
  return `
import * as v from "valibot";
import { defineTool } from "../../contracts/define/define-tool.ts";
import { expectAnswer } from "../../contracts/define/expect-answer.ts";
import { ok } from "../../protocol/outcome/result.ts";
const base = {
  name: "docs__part",
  version: "1.0.0",
  description: "Has the part of a document.",
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
} as const;
export const tool = defineTool({ ...base, ${fields} BLOCK });
void [v, expectAnswer, ok];`;
}

const PERIOD = `
  input: v.strictObject({ start: v.string(), end: v.string() }),
  output: v.strictObject({}),
  redaction: { args: [], output: [] },
  capabilities: [],
  execute: () => ok({}),`;

const PAYMENT = `
  input: v.strictObject({ invoice: v.string() }),
  output: v.strictObject({ receipt: v.string() }),
  capabilities: ["http"],
  execute: () => ok({ receipt: "" }),`;

const SEAT = `
  input: v.strictObject({ seat: v.string() }),
  output: v.strictObject({ reservation: v.string() }),
  redaction: { args: [], output: [] },
  capabilities: [],
  execute: () => ok({ reservation: "" }),`;

const WRITE = `
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "external_side_effect",
  transactional: { semantics: "irreversible_pivot" },${PAYMENT}`;

const PAGE = `
  input: v.strictObject({ page: v.string() }),
  output: v.strictObject({ title: v.string() }),
  redaction: { args: [], output: ["title"] },
  capabilities: ["http"],`;

const CONTENT = `
declare const title: string, caption: string, picture: string;
${toolWith(PAGE)}`;

const MONTH = `
  input: v.strictObject({ month: v.string() }),
  output: v.strictObject({ total: v.number() }),
  capabilities: ["progress"],`;

const DETAILS = `
interface Row { readonly day: string; readonly sum: number }
declare const readRows: (month: string) => AsyncIterable<Row>;
declare const sumOf: (rows: readonly Row[]) => number;
${toolWith(MONTH)}`;

const VERSIONS = `
declare const getCurrentTime: object, generateTitle: object, calculateV1: object, calculate: object;
BLOCK`;

const SHELF = `
import { defineOperation } from "../../contracts/define/define-workspace.ts";
const shelf = v.strictObject({ id: v.string() });
const closeShelf = defineOperation({
  name: "close_shelf", kind: "write", input: shelf, output: shelf, run: (_sql, args) => ok(args),
});
${toolWith(`
  effect: "state_change",
  sideEffectClass: "LOW_RISK_INTERNAL",
  input: shelf,
  output: shelf,
  redaction: { args: ["id"], output: ["id"] },
  capabilities: ["workspace"],
  workspace: "shelves",`)}`;

const FRAGMENTS: readonly Fragment[] = [
  { file: "docs/assistants.md", has: "context: async", around: DEPLOYMENT },
  { file: "docs/providers.md", has: "models: [", around: DEPLOYMENT },
  { file: "docs/contracts.md", has: "CORE_TOOLS", around: VERSIONS },
  { file: "docs/tools-authoring.md", has: "content: { maxImages", around: CONTENT },
  { file: "docs/tools-authoring.md", has: "details: v.", around: DETAILS },
  { file: "docs/tools-authoring.md", has: "rules: [", around: toolWith(PERIOD) },
  { file: "docs/tools-authoring.md", has: "compensate: (", around: toolWith(SEAT) },
  { file: "docs/tools-authoring.md", has: "async preview(", around: toolWith(PAYMENT) },
  { file: "docs/tools-authoring.md", has: "mayDrift: {", around: toolWith(PAYMENT) },
  { file: "docs/tools-authoring.md", has: "workspace.rehearse(", around: SHELF },
  { file: "docs/tools-authoring.md", has: "async verify(", around: toolWith(WRITE) },
  { file: "docs/tools-authoring.md", has: "progress.report(", around: CAPABILITIES },
  { file: "docs/tools-authoring.md", has: "auth.getAuthHeaders();", around: CAPABILITIES },
  { file: "docs/tools-authoring.md", has: "not_a_die", around: OUTCOME },
  { file: "docs/tools-authoring.md", has: "notCommitted: true", around: OUTCOME },
];

const IMPORT = /^import [^;]+;\n/gm;

/**
 * Makes a whole module of a block. A block that begins with an import and is not listed is whole.
 * Fails: throws for a part of a file that nothing is put around.
 */
export function toModule({ file, line, text, path }: CodeBlock): string {
  const known = FRAGMENTS.find(
    (one) => path === undefined && one.file === file && text.includes(one.has),
  );
  if (known) return known.around.replace("BLOCK", () => text.replaceAll(IMPORT, ""));
  if (path !== undefined || text.startsWith("import ")) return text;
  throw new Error(`${file}:${line} is a part of a file. Add to FRAGMENTS what stands around it.`);
}
