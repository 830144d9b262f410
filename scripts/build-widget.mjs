import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build, transform } from "esbuild";

/**
 * Builds the chat page and the approvals page into the directory that the Worker serves: `node
 * scripts/build-widget.mjs [directory]`, dist/public unless told otherwise.
 * Contract: the same sources give the same bytes.
 */
const source = join(import.meta.dirname, "../src/widget");
const target = process.argv[2] ?? join(import.meta.dirname, "../dist/public");

mkdirSync(target, { recursive: true });
await build({
  // Each page loads one of these files, so each file contains all that its page needs.
  entryPoints: {
    widget: join(source, "interlock-chat.ts"),
    approvals: join(source, "interlock-approvals.ts"),
  },
  outdir: target,
  bundle: true,
  format: "esm",
  target: ["es2022"],
  minify: true,
  // The licence of the bundled package requires this notice.
  banner: {
    js: "/*! Interlock (MIT). Contains eventsource-parser, (c) Espen Hovlandsdal (MIT). */",
  },
  plugins: [{ name: "css-as-text", setup: loadCssAsText }],
  logLevel: "warning",
});
copyFileSync(join(source, "page.html"), join(target, "index.html"));
copyFileSync(join(source, "approvals.html"), join(target, "approvals.html"));
copyFileSync(join(source, "page.css"), join(target, "page.css"));
const files = ["widget.js", "approvals.js", "index.html", "approvals.html", "page.css"];
console.log(`pages: ${files.map(describeSize).join(", ")}`);

/** Minifies a style sheet as CSS, because the element adopts it as a string. */
function loadCssAsText({ onLoad }) {
  onLoad({ filter: /\.css$/ }, async ({ path }) => {
    const { code } = await transform(readFileSync(path, "utf8"), { loader: "css", minify: true });
    return { contents: code, loader: "text" };
  });
}

function describeSize(name) {
  const bytes = readFileSync(join(target, name));
  return `${name} ${(gzipSync(bytes, { level: 9 }).byteLength / 1024).toFixed(1)} KiB gz`;
}
