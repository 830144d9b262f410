import { execFile } from "node:child_process";

/**
 * What `npm run check` runs: npm scripts, so that each can be run alone. The longest start first.
 */
const CHECKS = [
  // Types too: both need the same programs of TypeScript.
  "check:lint",
  "check:openapi",
  "check:dead-code",
  "check:imports",
  "check:format",
  "check:lines",
  "check:api",
  "contracts:check",
  "check:mutants",
] as const;

/** Checks that run at the same time; more of them need more memory than a small machine has. */
const AT_A_TIME = 2;

const ENVIRONMENT = {
  // Checkers written in Go spend a part of their time on garbage. This much memory holds it.
  GOGC: "off",
  GOMEMLIMIT: "2GiB",
  // The linter of the API's document reaches nobody.
  REDOCLY_TELEMETRY: "off",
  REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
  ...process.env,
};

await main();

/** Runs every check, prints a line for each, and prints the output of those that fail. */
async function main(): Promise<void> {
  const rest: string[] = [...CHECKS];
  let failed = 0;
  const lane = async (): Promise<void> => {
    for (let check = rest.shift(); check !== undefined; check = rest.shift()) {
      const { passed, output } = await run(check);
      console.log(`${passed ? "ok  " : "FAIL"} ${check}`);
      if (passed) continue;
      failed++;
      console.log(output);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, lane));
  console.log(`check: ${CHECKS.length - failed} of ${CHECKS.length} passed`);
  process.exitCode = failed > 0 ? 1 : 0;
}

function run(script: string): Promise<{ readonly passed: boolean; readonly output: string }> {
  return new Promise((resolve) => {
    const options = { encoding: "utf8", maxBuffer: 64 * 1024 * 1024, env: ENVIRONMENT } as const;
    execFile("npm", ["run", "-s", script], options, (error, stdout, stderr) =>
      resolve({ passed: error === null, output: `${stdout}${stderr}` }),
    );
  });
}
