import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build, transform } from "esbuild";

/**
 * Builds the chat page into the directory that the Worker serves: `node scripts/build-widget.mjs
 * [directory]`, dist/public unless told otherwise.
 * Contract: the same sources give the same bytes.
 */
const source = join(import.meta.dirname, "../src/widget");
const target = process.argv[2] ?? join(import.meta.dirname, "../dist/public");

mkdirSync(target, { recursive: true });
await build({
  entryPoints: [join(source, "interlock-chat.ts")],
  outfile: join(target, "widget.js"),
  bundle: true,
  format: "esm",
  target: ["es2022"],
  minify: true,
  // The licence of the one bundled package asks for its notice.
  banner: {
    js: "/*! Interlock (MIT). Contains eventsource-parser, (c) Espen Hovlandsdal (MIT). */",
  },
  plugins: [{ name: "css-as-text", setup: loadCssAsText }],
  logLevel: "warning",
});
copyFileSync(join(source, "page.html"), join(target, "index.html"));
copyFileSync(join(source, "page.css"), join(target, "page.css"));
console.log(`chat page: ${["widget.js", "index.html", "page.css"].map(describeSize).join(", ")}`);

/** The element adopts its style sheet as a string, so the string is minified as CSS first. */
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
