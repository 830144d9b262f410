import { spawnSync } from "node:child_process";

/** What `npm run check` runs, in order: npm scripts, so that each can be run alone. */
const CHECKS = [
  "check:format",
  "check:lint",
  "check:types",
  "check:imports",
  "check:dead-code",
  "contracts:check",
] as const;

let failed = 0;
for (const check of CHECKS) {
  const { status, stdout, stderr } = spawnSync("npm", ["run", "-s", check], {
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
