import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { PACKAGE_FOLDER } from "./project.ts";
import { measureStarts, type Start, type StartableWorker } from "./start-up.ts";
import { bundleWithoutGamePlan } from "./pack-bundle.ts";
import { bundleWithoutWire, listedWires } from "./wire-bundles.ts";
import { bundleWorker, readWorkerBindings } from "./worker-bundle.ts";

/** A deployment pays for no pack and no workspace that it does not name. */
const BASE_LIMIT_KIB = 160;
const START_UP_AIM = 2;
/** The smallest Worker with Hono. Starting cannot cost less than this Worker costs. */
const BARE_HONO = `
  import { Hono } from "hono";
  const app = new Hono();
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  export default app;
`;

await main();

/** Prints what the parts of the reference deployment weigh, and how long a start takes. */
async function main(): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), "interlock-start-"));
  try {
    const { code } = await bundleWorker(PACKAGE_FOLDER, scratch);
    await printBase();
    await printWires();
    await printStartUp(code);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Prints what the Worker weighs without GamePlan. Exit code 1: it is larger than the limit. */
async function printBase(): Promise<void> {
  const base = toKib((await bundleWithoutGamePlan()).compressedBytes);
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
 * Prints what a start takes. A busy machine changes that; test/start-up.node.test.ts finds mistakes
 * on every machine.
 */
async function printStartUp(code: string): Promise<void> {
  const { compatibilityDate, texts, objects, kv, assets } = readWorkerBindings(PACKAGE_FOLDER);
  const settings = { ...texts, API_TOKENS: apiTokens(), CONNECTION_KEYS: connectionKeys() };
  const workers = {
    interlock: { code, compatibilityDate, texts: settings, objects, kv, services: [assets] },
    hono: { ...bare(compatibilityDate), code: await bundleBareHono() },
    empty: {
      ...bare(compatibilityDate),
      code: "export default { fetch: () => new Response() };",
    },
  };
  const { interlock, hono, empty } = await measureStarts(workers);
  const ratioOf = (unit: keyof Start): number => interlock[unit] / hono[unit];
  const format = ({ elapsedMs, cpuMs }: Start): string =>
    `${elapsedMs.toFixed(0)} ms, CPU ${cpuMs.toFixed(0)} ms`;
  console.log(
    `Start to the first answer: ${format(interlock)}; bare Hono Worker ${format(hono)}; ` +
      `empty Worker ${format(empty)}\n` +
      `  ratio to bare Hono ${ratioOf("elapsedMs").toFixed(2)}, ` +
      `CPU ${ratioOf("cpuMs").toFixed(2)}; aim <= ${START_UP_AIM}: ` +
      (ratioOf("elapsedMs") <= START_UP_AIM ? "pass" : "FAIL"),
  );
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

async function bundleBareHono(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: BARE_HONO, resolveDir: PACKAGE_FOLDER },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: "es2024",
  });
  return outputFiles[0]?.text ?? "";
}

function toKib(bytes: number): number {
  return bytes / 1024;
}
