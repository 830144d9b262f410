import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { findLongComments } from "./find-long-comments.ts";

const FILES = ["*.ts", "*.mjs", "*.css", "*.toml"];

main();

/** Names each comment line that is too long. Fails: exit code 1. */
function main(): void {
  const listed = execFileSync("git", ["ls-files", "-z", "--", ...FILES], { encoding: "utf8" });
  const found = listed
    .split("\0")
    .filter((file) => file !== "")
    .flatMap((file) => findLongComments(file, readFileSync(file, "utf8")));
  for (const { file, line, columns } of found) console.log(`${file}:${line}: ${columns} columns`);
  if (found.length === 0) return;
  console.log(`${found.length} comment lines are too long. Wrap them at 100 columns.`);
  process.exitCode = 1;
}
