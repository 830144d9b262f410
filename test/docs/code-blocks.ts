import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");

/** One fenced block of a document. */
export interface CodeBlock {
  /** `docs/policy.md` */
  readonly file: string;
  readonly line: number;
  /** The word after the fence; empty without one. */
  readonly language: string;
  /** Without the path that the first line may name. */
  readonly text: string;
  /** Of a block that is a file: the comment in its first line, `src/tools/core/roll-dice.ts`. */
  readonly path: string | undefined;
}

const FENCED = /^( *)```(\w*)\n(.*?)^\1```$/gms;
const PATH = /^(?:\/\/|#) ([\w./-]+\.\w+)\n/;

/** Finds every code block of the documents for users, in order. */
export function findCodeBlocks(): readonly CodeBlock[] {
  const files = ["README.md", "CONTRIBUTING.md", ...globSync("docs/*.md", { cwd: ROOT }).sort()];
  return files.flatMap((file) => {
    const document = readFileSync(join(ROOT, file), "utf8");
    return [...document.matchAll(FENCED)].map((match): CodeBlock => {
      const [, indent = "", language = "", fenced = ""] = match;
      const whole = fenced.replaceAll(new RegExp(`^${indent}`, "gm"), "");
      const [first = "", path] = PATH.exec(whole) ?? [];
      const line = document.slice(0, match.index).split("\n").length;
      return { file, line, language, text: whole.slice(first.length), path };
    });
  });
}

/** Kinds of blocks that are neither files nor commands. */
const NEITHER: Readonly<Record<string, string>> = {
  mermaid: "a picture",
  "": "what a command prints, or what a model or browser gets; the product's own tests hold it",
};

/** Blocks that no test can run. `starts` is how the block begins. */
const NOT_RUN: readonly { readonly file: string; readonly starts: string; readonly why: string }[] =
  [
    ...[
      "npm exec",
      "npm run desk",
      "curl -s http",
      "npm test",
      "npx interlock new",
      "npx interlock contracts",
      "npx wrangler deploy",
      "npm install interlock-edge",
    ].map((starts) => ({
      file: "docs/tutorial.md",
      starts,
      why: "test/package/page-ticket-desk.node.test.ts runs it in a project of its own",
    })),
    {
      file: "docs/providers.md",
      starts: "curl -N https://HOST/v1/chat",
      why: "asks a provider outside of this machine",
    },
    {
      file: "docs/providers.md",
      starts: '{\n  "url": "https://host/v1"',
      why: "what a command prints; test/cli/decode.node.test.ts holds it",
    },
    {
      file: "docs/audit.md",
      starts: "run_38eb86815c42",
      why: "what a command prints; test/cli/explain/words.node.test.ts holds it",
    },
    {
      file: "docs/tools-authoring.md",
      starts: "Tells the current date",
      why: "what a model reads; test/docs/derived-tables.node.test.ts holds it",
    },
    {
      file: "docs/tutorial.md",
      starts: "curl -s http://127.0.0.1:8787/v1/approvals",
      why: "needs the desk of the tutorial; test/package/page-ticket-desk.node.test.ts starts it",
    },
    {
      file: "docs/environments.md",
      starts: "name: deploy",
      why: "a workflow of another system; test/cli/environments-guide.node.test.ts runs its steps",
    },
    {
      file: "docs/metrics.md",
      starts: "scrape_configs:",
      why: "a file of another system; test/docs/metrics.node.test.ts holds its rules",
    },
    {
      file: "docs/policy.md",
      starts: "curl -X POST https://YOUR-WORKER/v1/policy/dry-run",
      why: "needs a deployment with replays; test/http/replay.test.ts sends it",
    },
    {
      file: "docs/evaluation.md",
      starts: "npx interlock export",
      why: "needs a deployment; test/e2e/dev.node.test.ts exports from one, and evaluates it",
    },
    {
      file: "docs/questions.md",
      starts: "curl -X POST",
      why: "needs a call that asks; test/http/questions.test.ts sends it",
    },
    {
      file: "docs/providers.md",
      starts: "on: { schedule:",
      why: "a workflow of another system; its command is in docs/providers.md too",
    },
  ];

/** Blocks of some languages that a test has to run. */
export function blocksIn(...languages: readonly string[]): readonly CodeBlock[] {
  return findCodeBlocks().filter(
    (block) => languages.includes(block.language) && reasonNotToRun(block) === undefined,
  );
}

/** Why no test runs a block; undefined if one must. */
export function reasonNotToRun({ file, language, text }: CodeBlock): string | undefined {
  const listed = NOT_RUN.find((known) => known.file === file && text.startsWith(known.starts));
  return NEITHER[language] ?? listed?.why;
}

/** The listed blocks that are gone from the documents. */
export function staleReasons(): readonly string[] {
  const blocks = findCodeBlocks();
  return NOT_RUN.filter(
    ({ file, starts }) =>
      !blocks.some((block) => block.file === file && block.text.startsWith(starts)),
  ).map(({ file, starts }) => `${file}: ${starts}`);
}

/** Names a block in a test: `docs/policy.md:60 {`. */
export function nameOf({ file, line, text, path }: CodeBlock): string {
  return `${file}:${line} ${path ?? text.split("\n", 1)[0]}`;
}

/** assistant-ui brings an older client of AG-UI than the one that other documents import. */
export function pinAgUi(text: string): string {
  const own = `${ROOT}/node_modules/@assistant-ui/react-ag-ui/node_modules/@ag-ui/client`;
  return text.includes("@assistant-ui/react-ag-ui")
    ? text.replace('"@ag-ui/client"', `"${own}/dist/index.mjs"`)
    : text;
}
