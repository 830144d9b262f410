import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import type { Metafile } from "esbuild";
import { type Command, parsing, UsageError } from "../command.ts";
import { projectFolder } from "../project/folders.ts";
import { bundleWorker } from "../project/worker-bundle.ts";

export const command: Command = {
  usage:
    "Usage: interlock size [--limit KIB] [--env NAME] [--json]\n" +
    "Builds the Worker as wrangler deploy does, without an upload. Sizes are minified, and\n" +
    "compressed where they say gz. Exit code 1: the Worker is larger than the limit.",
  run: printSizes,
};

async function printSizes(args: string[]): Promise<void> {
  const { limitKib, environment, isJson } = readArguments(args);
  const scratch = mkdtempSync(join(tmpdir(), "interlock-size-"));
  try {
    const { code, metafile } = await bundleWorker(projectFolder(), scratch, environment);
    const size = {
      minifiedBytes: Buffer.byteLength(code),
      compressedBytes: gzipSync(code, { level: 9 }).byteLength,
    };
    const shares = sharesOf(metafile);
    const isWithinLimit = limitKib === undefined || toKib(size.compressedBytes) <= limitKib;
    if (isJson) console.log(JSON.stringify({ ...size, shares: Object.fromEntries(shares) }));
    else print(size, shares, limitKib);
    if (!isWithinLimit) process.exitCode = 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function readArguments(args: string[]) {
  const text = { type: "string" } as const;
  const options = { limit: text, env: text, json: { type: "boolean" } } as const;
  const { values } = parsing(() => parseArgs({ args, options }));
  const limitKib = values.limit === undefined ? undefined : Number(values.limit);
  if (limitKib !== undefined && !(limitKib > 0)) throw new UsageError("--limit takes a number.");
  return { limitKib, environment: values.env, isJson: values.json ?? false };
}

interface Size {
  readonly minifiedBytes: number;
  readonly compressedBytes: number;
}

function print(
  { minifiedBytes, compressedBytes }: Size,
  shares: ReadonlyMap<string, number>,
  limitKib: number | undefined,
): void {
  const compressedKib = toKib(compressedBytes);
  const verdict = limitKib !== undefined && compressedKib > limitKib ? "FAIL" : "pass";
  const limit = limitKib === undefined ? "" : `; limit ${limitKib} KiB gz: ${verdict}`;
  console.log(
    `Worker: ${toKib(minifiedBytes).toFixed(1)} KiB minified, ${compressedKib.toFixed(1)} KiB gz${limit}`,
  );
  const total = [...shares.values()].reduce((sum, bytes) => sum + bytes, 0);
  for (const [owner, bytes] of [...shares].toSorted(([, a], [, b]) => b - a)) {
    const percent = ((bytes / total) * 100).toFixed(0);
    console.log(`  ${toKib(bytes).toFixed(1).padStart(6)} KiB ${percent.padStart(3)} %  ${owner}`);
  }
}

/** Adds up the minified bytes by their package. Compressed bytes cannot be attributed to a file. */
function sharesOf(metafile: Metafile): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  for (const { inputs } of Object.values(metafile.outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const owner = ownerOf(path);
      shares.set(owner, (shares.get(owner) ?? 0) + bytesInOutput);
    }
  }
  return shares;
}

function ownerOf(path: string): string {
  const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
  // wrangler adds files of its own, which lie outside the project.
  return name ?? (/^(?:\.\.|<|\/)|:/.test(path) ? "bundler" : "this project");
}

function toKib(bytes: number): number {
  return bytes / 1024;
}
