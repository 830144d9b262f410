import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";
import { measureStarts, type Start, type StartableWorker } from "./start-up.ts";
import { bundleWithoutWire, listedWires } from "./wire-bundles.ts";
import { bundleWorker, readWorkerBindings } from "./worker-bundle.ts";

const LIMIT_KIB = 148;
const START_UP_AIM = 2;
/** The smallest Worker with Hono. Starting cannot cost less than this Worker costs. */
const BARE_HONO = `
  import { Hono } from "hono";
  const app = new Hono();
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  export default app;
`;

await main();

/** Prints the size of the deployed Worker, what it is made of, and how long it takes to start. */
async function main(): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), "interlock-size-"));
  try {
    const { code, metafile } = await bundleWorker(scratch);
    const isWithinLimit = printSize(code);
    printShares(metafile);
    await printWires();
    await printStartUp(code);
    if (!isWithinLimit) process.exitCode = 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function printSize(code: string): boolean {
  const compressedKib = toKib(gzipSync(code, { level: 9 }).byteLength);
  const isWithinLimit = compressedKib <= LIMIT_KIB;
  console.log(
    `Worker: ${toKib(Buffer.byteLength(code)).toFixed(1)} KiB minified, ${compressedKib.toFixed(1)} KiB gz; ` +
      `limit ${LIMIT_KIB} KiB gz: ${isWithinLimit ? "pass" : "FAIL"}`,
  );
  return isWithinLimit;
}

/** Prints shares of the minified bytes. Compressed bytes cannot be attributed to a file. */
function printShares(metafile: Metafile): void {
  const shares = new Map<string, number>();
  for (const { inputs } of Object.values(metafile.outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const owner = ownerOf(path);
      shares.set(owner, (shares.get(owner) ?? 0) + bytesInOutput);
    }
  }
  const total = [...shares.values()].reduce((sum, bytes) => sum + bytes, 0);
  for (const [owner, bytes] of [...shares].toSorted(([, a], [, b]) => b - a)) {
    const percent = ((bytes / total) * 100).toFixed(0);
    console.log(`  ${toKib(bytes).toFixed(1).padStart(6)} KiB ${percent.padStart(3)} %  ${owner}`);
  }
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

function ownerOf(path: string): string {
  const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
  return name ?? (/^(?:src|durable-objects|dist)\//.test(path) ? "interlock" : "bundler");
}

/**
 * Prints what a start takes. A busy machine changes that; test/start-up.node.test.ts finds mistakes
 * on every machine.
 */
async function printStartUp(code: string): Promise<void> {
  const { compatibilityDate, texts, objects, kv, assets } = readWorkerBindings();
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
    stdin: { contents: BARE_HONO, resolveDir: join(import.meta.dirname, "..") },
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
