import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bundleText } from "./bundle-entry.ts";
import { PACKAGE_FOLDER } from "../cli/project/folders.ts";
import { measureStarts, type Start, type StartableWorker } from "./start-up.ts";
import { bundleWithoutGamePlan } from "./pack-bundle.ts";
import { bundleWithoutWire, listedWires, type EntryBundle } from "./wire-bundles.ts";
import { bundleWorker, readWorkerBindings } from "../cli/project/worker-bundle.ts";

/** A deployment pays for no pack and no workspace that it does not name. */
const BASE_LIMIT_KIB = 246;
const START_UP_AIM = 2;
/** A deployment without a workspace has no such object. */
const WORKSPACES = "WORKSPACES";
/** The smallest Worker with Hono. Starting cannot cost less than this Worker costs. */
const BARE_HONO = `
  import { Hono } from "hono";
  const app = new Hono();
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  export default app;
`;

await main();

/**
 * Prints what the parts of the reference deployment weigh, and how long a start takes. With
 * `--limits-only`, only what has a limit. A busy machine does not change that.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { "limits-only": { type: "boolean" } } });
  const base = await bundleWithoutGamePlan();
  printBase(base);
  if (values["limits-only"]) return;
  await printWires();
  await printStartUp(base.code);
}

/** Prints what the Worker weighs without GamePlan. Exit code 1: it is larger than the limit. */
function printBase({ compressedBytes }: EntryBundle): void {
  const base = toKib(compressedBytes);
  const isWithinLimit = base <= BASE_LIMIT_KIB;
  const verdict = isWithinLimit ? "pass" : "FAIL";
  console.log(
    `Without GamePlan: the Worker ${base.toFixed(1)} KiB gz; limit ${BASE_LIMIT_KIB} KiB gz: ${verdict}`,
  );
  if (!isWithinLimit) process.exitCode = 1;
}

/** Prints what each model wire weighs: the Worker with all of them, and without this one. */
async function printWires(): Promise<void> {
  const whole = toKib((await bundleWithoutWire()).compressedBytes);
  console.log(`Model wires: the Worker with all of them ${whole.toFixed(1)} KiB gz`);
  for (const [name, folder] of listedWires()) {
    const without = toKib((await bundleWithoutWire(name)).compressedBytes);
    const share = (whole - without).toFixed(1);
    console.log(`  without ${folder.padEnd(10)} ${without.toFixed(1)} KiB gz, ${share} less`);
  }
}

/**
 * Prints what a start takes, with GamePlan and without. A busy machine changes that;
 * test/start-up.node.test.ts finds mistakes on every machine.
 */
async function printStartUp(base: string): Promise<void> {
  const { compatibilityDate, texts, objects, kv, assets } = readWorkerBindings(PACKAGE_FOLDER);
  const settings = { ...texts, API_TOKENS: apiTokens(), CONNECTION_KEYS: connectionKeys() };
  const interlock = { compatibilityDate, texts: settings, kv, services: [assets] };
  const { [WORKSPACES]: _unused, ...baseObjects } = objects;
  const starts = await measureStarts({
    whole: { ...interlock, objects, code: await bundleWhole() },
    base: { ...interlock, objects: baseObjects, code: base },
    hono: {
      ...bare(compatibilityDate),
      code: await bundleText(BARE_HONO, PACKAGE_FOLDER, { minify: true }),
    },
    empty: {
      ...bare(compatibilityDate),
      code: "export default { fetch: () => new Response() };",
    },
  });
  const format = ({ elapsedMs, cpuMs }: Start): string =>
    `${elapsedMs.toFixed(0)} ms, CPU ${cpuMs.toFixed(0)} ms`;
  const { hono, empty } = starts;
  console.log(
    `Start to the first answer: bare Hono Worker ${format(hono)}; empty ${format(empty)}`,
  );
  for (const [name, start] of [
    ["the Worker", starts.whole],
    ["without GamePlan", starts.base],
  ] as const) {
    const ratio = start.elapsedMs / hono.elapsedMs;
    console.log(
      `  ${name} ${format(start)}; ratio to bare Hono ${ratio.toFixed(2)}, ` +
        `CPU ${(start.cpuMs / hono.cpuMs).toFixed(2)}; aim <= ${START_UP_AIM}: ` +
        (ratio <= START_UP_AIM ? "pass" : "FAIL"),
    );
  }
}

async function bundleWhole(): Promise<string> {
  const scratch = mkdtempSync(join(tmpdir(), "interlock-start-"));
  try {
    return (await bundleWorker(PACKAGE_FOLDER, scratch)).code;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function bare(compatibilityDate: string): Omit<StartableWorker, "code"> {
  return { compatibilityDate, texts: {}, objects: {}, kv: [], services: [] };
}

/** A valid token list, so that the Worker composes itself as in production. */
function apiTokens(): string {
  const caller = { tenantId: "size", actorId: "service:size", scopes: [], sha256: "0".repeat(64) };
  return JSON.stringify([caller]);
}

function connectionKeys(): string {
  return JSON.stringify([{ id: "size", key: Buffer.alloc(32).toString("base64") }]);
}

function toKib(bytes: number): number {
  return bytes / 1024;
}
