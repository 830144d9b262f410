import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { findLongComments, findLongFile } from "./find-long-lines.ts";

const FILES = ["*.ts", "*.mjs", "*.css", "*.toml"];

main();

/** Names each comment line and each product file that is too long. Fails: exit code 1. */
function main(): void {
  const listed = execFileSync("git", ["ls-files", "-z", "--", ...FILES], { encoding: "utf8" });
  const sources = listed
    .split("\0")
    .filter((file) => file !== "")
    .map((file) => ({ file, text: readFileSync(file, "utf8") }));
  const comments = sources.flatMap(({ file, text }) => findLongComments(file, text));
  const files = sources.flatMap(({ file, text }) => findLongFile(file, text));
  for (const { file, line, columns } of comments)
    console.log(`${file}:${line}: ${columns} columns`);
  for (const { file, lines } of files) console.log(`${file}: ${lines} lines`);
  if (comments.length > 0) console.log("Wrap comments at 100 columns.");
  if (files.length > 0) console.log("Split product files by concept: 300 lines at most.");
  if (comments.length + files.length > 0) process.exitCode = 1;
}
