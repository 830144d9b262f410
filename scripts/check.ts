import { spawnSync } from "node:child_process";

/** What `npm run check` runs, in order: npm scripts, so that each can be run alone. */
const CHECKS = ["format", "lint", "types", "imports", "dead-code"] as const;

let failed = 0;
for (const check of CHECKS) {
  const { status, stdout, stderr } = spawnSync("npm", ["run", "-s", `check:${check}`], {
    encoding: "utf8",
  });
  const isSound = status === 0;
  console.log(`${isSound ? "ok  " : "FAIL"} ${check}`);
  if (isSound) continue;
  failed++;
  console.log(`${stdout}${stderr}`);
}
console.log(`check: ${CHECKS.length - failed} of ${CHECKS.length} sound`);
process.exitCode = failed > 0 ? 1 : 0;
