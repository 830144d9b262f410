import { globSync, readFileSync } from "node:fs";
import { build } from "esbuild";
import { parseSync } from "oxc-parser";
import { expect, test } from "vitest";
import { GERMAN } from "../../src/widget/texts/german.ts";

/** Strings that look like a text, and that no reader sees. */
const NO_TEXTS = new Set([
  "Escape",
  "Enter",
  "ArrowDown",
  "ArrowUp",
  "Home",
  "End",
  "noopener noreferrer nofollow",
  "heading level-{}",
]);
/** These name elements and attributes, and speak to authors. */
const SAID = /^src\/(?:widget\/|protocol\/(?:run\/(?:reason-)?words|outcome\/failures)\.ts)/;
const FOR_AUTHORS = /cards\/(?:draw-nodes|define-tool-card)|texts\//;

const LOOKS_LIKE_TEXT = /^[A-Z][a-z]+$|^[A-Z][a-z]+[ .…,:]| [a-z]+ [a-z]/;
const TEMPLATE = /[A-Z][a-z]+ |[a-z]{2,} [a-z]{2,}/;

interface SyntaxNode {
  readonly type?: string;
  readonly value?: unknown;
  readonly callee?: { readonly name?: string };
  readonly quasis?: readonly { readonly value: { readonly cooked: string } }[];
}

/** The texts in a source that its reader could see. */
function findTexts(file: string): readonly string[] {
  const found: string[] = [];
  const walk = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(walk);
    if (typeof node !== "object" || node === null) return;
    const { type = "", value, quasis = [] } = node as SyntaxNode;
    if (type === "ImportDeclaration" || type.startsWith("TSType")) return;
    if (type === "Literal" && typeof value === "string" && LOOKS_LIKE_TEXT.test(value)) {
      found.push(value);
    }
    const template = quasis.map((quasi) => quasi.value.cooked).join("{}");
    if (TEMPLATE.test(template)) found.push(template);
    for (const [key, child] of Object.entries(node)) if (key !== "key") walk(child);
  };
  walk(parseSync(file, readFileSync(file, "utf8")).program.body);
  return found;
}

test("no text of the chat, of the desk and of the page of runs stands outside the table", async () => {
  const { metafile } = await build({
    entryPoints: [
      "interlock-chat",
      "interlock-approvals",
      "interlock-runs",
      "chat/conversations/create-chat-tools",
      "markdown/markdown",
    ].map((name) => `src/widget/${name}.ts`),
    outdir: "unused",
    bundle: true,
    format: "esm",
    write: false,
    metafile: true,
    loader: { ".css": "text" },
    logLevel: "error",
  });
  const sources = Object.keys(metafile.inputs).filter((file) => file.endsWith(".ts"));
  const files = sources.filter((file) => SAID.test(file) && !FOR_AUTHORS.test(file));
  const outside = files.flatMap((file) =>
    findTexts(file)
      .filter((text) => !Object.hasOwn(GERMAN, text) && !NO_TEXTS.has(text))
      .map((text) => `${file}: ${text}`),
  );
  expect(outside).toEqual([]);
  const served = globSync([
    "src/http/request/*-problems.ts",
    "src/http/approvals/approvals.ts",
    "src/loop/run-end.ts",
    "src/contracts/bind/classify-issues.ts",
    "src/run/approvals/edit.ts",
    "src/protocol/approval/question.ts",
  ]);
  const said = new Set([...sources, ...served].flatMap((file) => stringsIn(file)));
  expect(Object.keys(GERMAN).filter((text) => !said.has(text))).toEqual([]);
});

/** Every string in a source. */
function stringsIn(file: string): readonly string[] {
  if (/texts\/german/.test(file)) return [];
  const source = readFileSync(file, "utf8").replaceAll(/" \+\s+"/g, "");
  return Object.keys(GERMAN).filter((text) => source.includes(JSON.stringify(text)));
}

test("what a function says of the table, it says in the language of the page", () => {
  const files = globSync("src/widget/{chat/**,markdown,approval,desk,panes,runs,.}/*.ts");
  const unsaid = files.flatMap((file) => {
    const source = readFileSync(file, "utf8");
    if (!source.includes("texts/say.ts")) return [];
    return findUnsaid(parseSync(file, source).program.body).map((text) => `${file}: ${text}`);
  });
  expect(unsaid).toEqual([]);
});

/** The texts of the table that are neither a constant of a module nor inside of `say`. */
function findUnsaid(node: unknown, isInFunction = false): readonly string[] {
  if (Array.isArray(node)) return node.flatMap((child) => findUnsaid(child, isInFunction));
  if (typeof node !== "object" || node === null) return [];
  const { type = "", value, callee } = node as SyntaxNode;
  if (callee?.name !== undefined && SAYING.has(callee.name)) return [];
  if (type === "ImportDeclaration" || type.startsWith("TSType")) return [];
  const isText = type === "Literal" && typeof value === "string" && Object.hasOwn(GERMAN, value);
  // One word in small letters is a state of the protocol, and Files a type of dragged data.
  if (isText && isInFunction) return /^[a-z]+$|^Files$/.test(value) ? [] : [value];
  const isIn = isInFunction || /Function|MethodDefinition|PropertyDefinition/.test(type);
  return Object.entries(node).flatMap(([key, child]) =>
    key === "key" ? [] : findUnsaid(child, isIn),
  );
}

/** These say what they get. */
const SAYING = new Set([
  "say",
  "createIconButton",
  "sectionsOf",
  "drawPairs",
  "drawCostTable",
  "drawSection",
  "createSelect",
  "drawLabelled",
]);

test("a text in German has the values of the English one", () => {
  const valuesOf = (text: string): readonly string[] => (text.match(/\{\w+\}/g) ?? []).sort();
  for (const [english, german] of Object.entries(GERMAN)) {
    expect([english, valuesOf(german)]).toEqual([english, valuesOf(english)]);
  }
});
