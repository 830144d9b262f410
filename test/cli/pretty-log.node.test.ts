import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { copyPretty } from "../../cli/development/pretty-log.ts";
import { PACKAGE_FOLDER } from "../../cli/project/folders.ts";
import { ProjectFolder } from "../shared/project-folder.ts";

const INTERLOCK = join(PACKAGE_FOLDER, "cli/interlock.ts");

/** What the development server prints for lines of the platform's server. */
async function printed(...lines: readonly string[]): Promise<string> {
  const [from, to] = [new PassThrough(), new PassThrough()];
  copyPretty(from, to, { now: () => new Date(2026, 0, 2, 3, 4, 5) });
  from.end(lines.join("\n"));
  from.once("close", () => setImmediate(() => to.end()));
  return text(to);
}

test("a line of the log is written for people, with its error id and frames", async () => {
  const line = {
    level: "error",
    code: "tool_threw",
    errorId: "err_1f",
    tenantId: "acme",
    toolId: "desk__refund",
    detail: "two words",
    error: { name: "TypeError", message: "x is not …", frames: ["execute (refund.ts:41:13)"] },
  };
  expect(await printed(JSON.stringify(line))).toBe(
    '03:04:05 error tool_threw err_1f tenantId=acme toolId=desk__refund detail="two words"\n' +
      "  TypeError: x is not …\n    at execute (refund.ts:41:13)\n",
  );
});

test("what wrangler writes around a line goes away", async () => {
  const line = JSON.stringify({ level: "warn", code: "model_failed", model: "gpt" });
  const wrapped = `\u001b[33m▲ \u001b[43;33m[WARNING]\u001b[0m \u001b[1m${line}\u001b[0m`;
  expect(await printed(wrapped, "", "", "next", "")).toBe(
    "03:04:05 warn model_failed model=gpt\nnext\n",
  );
});

test("every other line stays as it is", async () => {
  const lines = ["hello", "", '{"level":"error"}', '{"level":"error","code":', "[1,2]"];
  expect(await printed(...lines)).toBe(`${lines.join("\n")}\n`);
});

test("what wrangler says of a build command that failed is left out, up to the next line", async () => {
  const failed = [
    "✘ [ERROR] Running custom build `npm run -s build` failed.",
    "",
    "✘ [ERROR] k [Error]: Process exited with non-zero status (1)",
    "",
    "      at runCommand (cli.js:1:1) {",
    "    _aborted: false,",
    "  }",
    "",
  ];
  expect(await printed("before", ...failed, "after", "  of it")).toBe("before\nafter\n  of it\n");
});

test("frames of a minified bundle name files and lines of the sources", async () => {
  using project = new ProjectFolder();
  project.write(
    "src/refund.ts",
    "\n\nexport function refund(): never {\n  throw new Error();\n}\n",
  );
  project.write("src/index.ts", 'import { refund } from "./refund.ts";\nrefund();\n');
  await build({
    absWorkingDir: project.path,
    entryPoints: ["src/index.ts"],
    outfile: "out/index.js",
    bundle: true,
    minify: true,
    sourcemap: true,
    logLevel: "silent",
  });
  const ran = spawnSync(process.execPath, [join(project.path, "out/index.js")], {
    encoding: "utf8",
  });
  const [, place] = /\(\S*(index\.js:\d+:\d+)\)/.exec(ran.stderr) ?? [];
  const frames = [`execute (${place})`, `async file:///x/${place}`, "other.js:1:1"];
  const line = { level: "error", code: "tool_threw", error: { name: "E", message: "m", frames } };
  const shown = spawnSync(process.execPath, [INTERLOCK, "logs", "--map", "out/index.js.map"], {
    cwd: project.path,
    encoding: "utf8",
    input: `  (log) ${JSON.stringify(line)}\nhello\n`,
  });
  expect([shown.stderr, shown.stdout.split("\n").slice(2)]).toEqual([
    "",
    [
      "    at execute (src/refund.ts:4:9)",
      "    at async src/refund.ts:4:9",
      "    at other.js:1:1",
      "hello",
      "",
    ],
  ]);
  project.write("out/wrong.map", "{");
  const wrong = await project.run(["logs", "--map", "out/wrong.map"]);
  expect([wrong.exitCode, wrong.stderr]).toEqual([1, expect.stringContaining("is no source map")]);
});
