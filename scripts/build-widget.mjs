import { createHash } from "node:crypto";
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { build, transform } from "esbuild";
import { markdownParts } from "./markdown-parts.ts";
import { dateToBegin, isFresh } from "./fresh.ts";

/**
 * Builds the pages into the directory that the Worker serves: `node scripts/build-widget.mjs
 * [directory]`, dist/public unless told otherwise.
 * Contract: the same sources give the same bytes, and are read only when one of them is newer.
 * Another directory gets a copy of those in dist/public while no source is newer.
 */
const source = join(import.meta.dirname, "../src/widget");
const gameplan = join(import.meta.dirname, "../apps/gameplan/page");
const served = join(import.meta.dirname, "../dist/public");
const target = process.argv[2] ?? served;

/** A first message waits for this file. */
const FIRST_FILE_KIB = 32;

/** Chooses the language of a page before its element begins. */
const LANGUAGE = '<script src="/language.js"></script>';

/** The pages, each an element in the same frame. */
const PAGES = [
  {
    file: "index.html",
    title: "Interlock",
    language: LANGUAGE,
    script: "widget.js",
    element: "<main><interlock-chat takes-focus></interlock-chat></main>",
  },
  {
    file: "approvals.html",
    title: "Operators’ desk · Interlock",
    german: "Pult der Operatoren · Interlock",
    language: LANGUAGE,
    script: "approvals.js",
    element: "<main><interlock-approvals></interlock-approvals></main>",
  },
  {
    file: "runs.html",
    title: "Runs · Interlock",
    german: "Läufe · Interlock",
    language: LANGUAGE,
    script: "runs.js",
    element: "<main><interlock-runs></interlock-runs></main>",
  },
  {
    file: "gameplan.html",
    title: "GamePlan · Interlock",
    script: "gameplan.js",
    element: '<interlock-gameplan assistant="gameplan"></interlock-gameplan>',
  },
];

/** All that the pages are made from. */
const SOURCES = [
  "src",
  "apps/gameplan/page",
  "apps/gameplan/tools",
  "scripts/build-widget.mjs",
  "scripts/markdown-parts.ts",
  "package-lock.json",
];
/** Written last, so it tells that all are there. */
const LAST = "licenses.txt";
const last = join(target, LAST);
if (isFresh(last, SOURCES)) process.exit();
if (isFresh(join(served, LAST), SOURCES)) {
  cpSync(served, target, { recursive: true });
  process.exit();
}

mkdirSync(target, { recursive: true });
const options = {
  outdir: target,
  bundle: true,
  format: "esm",
  target: ["es2022"],
  minify: true,
  legalComments: "none",
  metafile: true,
  // The licences of the bundled packages ask for their texts.
  banner: { js: "/*! Interlock (MIT). Licences of the packages in it: licenses.txt */" },
  define: { EDITION: JSON.stringify(nameSources()) },
  plugins: [
    { name: "css-as-text", setup: loadCssAsText },
    { name: "later-files-apart", setup: leaveLaterFiles },
    markdownParts,
  ],
  logLevel: "warning",
};
/** What a page loads when it needs it: each source, and its file. */
const LATER_FILES = {
  "create-chat-tools.ts": "widget-tools",
  "markdown.ts": "widget-markdown",
  "highlight.ts": "widget-highlight",
  "create-file-tray.ts": "widget-files",
  "german.ts": "widget-de",
};
// Each page loads one of these files first, so each contains all that its page needs at once. The
// others it loads later.
const shared = await build({
  ...options,
  entryPoints: {
    widget: join(source, "interlock-chat.ts"),
    "widget-tools": join(source, "chat/conversations/create-chat-tools.ts"),
    "widget-markdown": join(source, "markdown/markdown.ts"),
    "widget-highlight": join(source, "markdown/highlight.ts"),
    "widget-files": join(source, "chat/files/create-file-tray.ts"),
    "widget-de": join(source, "texts/german.ts"),
    approvals: join(source, "interlock-approvals.ts"),
    runs: join(source, "interlock-runs.ts"),
  },
});
// A script tag of a page loads these files, which are no modules: the one loads the chat, the other
// chooses the language before the chat begins.
await build({
  ...options,
  format: "iife",
  banner: { js: "/*! Interlock (MIT). */" },
  entryPoints: {
    embed: join(source, "launcher/embed.ts"),
    language: join(source, "language.ts"),
  },
});
// GamePlan's page has the chat of the other file, whose cards are those that this file defines. It
// loads most of its parts later. What both files need is in a third one.
await build({
  ...options,
  entryPoints: {
    gameplan: join(gameplan, "interlock-gameplan.ts"),
    "gameplan-later": join(gameplan, "later-sections.ts"),
  },
  splitting: true,
  chunkNames: "gameplan-shared",
  plugins: [...options.plugins, { name: "chat-is-loaded", setup: loadChatFromFile }],
});
for (const page of PAGES) writeFileSync(join(target, page.file), formatPage(page));
copyFileSync(join(source, "page.css"), join(target, "page.css"));
const files = [
  "widget.js",
  "widget-tools.js",
  "widget-markdown.js",
  "widget-highlight.js",
  "widget-files.js",
  "widget-de.js",
  "embed.js",
  "approvals.js",
  "runs.js",
  "gameplan.js",
  "gameplan-shared.js",
  "gameplan-later.js",
  "index.html",
  "page.css",
];
console.log(`pages: ${files.map(describeSize).join(", ")}`);
writeFileSync(last, joinLicenses(shared.metafile));
dateToBegin(last);

/** Puts the parts of a page into the frame that all pages share. */
function formatPage(parts) {
  const frame = readFileSync(join(source, "page.html"), "utf8");
  return frame.replaceAll(
    /\{(title|german|language|script|element)\}/g,
    (_, name) => parts[name] ?? "",
  );
}

/** Minifies a style sheet as CSS, because the element adopts it as a string. */
function loadCssAsText({ onLoad }) {
  onLoad({ filter: /\.css$/ }, async ({ path }) => {
    const { code } = await transform(readFileSync(path, "utf8"), { loader: "css", minify: true });
    return { contents: code, loader: "text" };
  });
}

/** Leaves what a page loads later in a file of its own, which every page shares. */
function leaveLaterFiles({ onResolve }) {
  onResolve({ filter: /\.ts$/ }, ({ kind, path }) => {
    const file = kind === "dynamic-import" && LATER_FILES[basename(path)];
    return file ? { path: `./${file}.js`, external: true } : undefined;
  });
}

/** Names the sources of the pages by their hash. */
function nameSources() {
  const hash = createHash("sha256");
  for (const folder of [source, gameplan]) {
    const names = readdirSync(folder, { recursive: true }).filter((name) =>
      /\.(?:ts|css)$/.test(name),
    );
    for (const name of names.toSorted(compareText))
      hash.update(name).update(readFileSync(join(folder, name)));
  }
  return hash.digest("hex").slice(0, 16);
}

function compareText(one, other) {
  return one < other ? -1 : 1;
}

/** Imports the chat and what it exports from widget.js, so that a page has them once. */
function loadChatFromFile({ onResolve }) {
  onResolve({ filter: /\/(?:interlock-chat|define-tool-card)\.ts$/ }, ({ kind }) =>
    kind === "import-statement" ? { path: "./widget.js", external: true } : undefined,
  );
}

/** Returns the licence of each package that the files contain. */
function joinLicenses({ inputs }) {
  const folders = Object.keys(inputs).map(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0],
  );
  const packages = [...new Set(folders)].filter(Boolean).toSorted(compareText);
  return packages.map(readLicense).join("\n");
}

function readLicense(folder) {
  const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${name} has no licence in its folder.`);
  return `${name} ${version}\n\n${readFileSync(join(folder, file), "utf8")}`;
}

function describeSize(name) {
  const bytes = readFileSync(join(target, name));
  const size = gzipSync(bytes, { level: 9 }).byteLength / 1024;
  if (name === "widget.js" && size > FIRST_FILE_KIB) {
    throw new Error(`widget.js is larger than ${FIRST_FILE_KIB} KiB gz: the tools may hold more`);
  }
  return `${name} ${size.toFixed(1)} KiB gz`;
}
