import { cpSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
const PARTS = [
  "src",
  "durable-objects",
  "apps",
  "package.json",
  "tsconfig.json",
  "wrangler.toml",
] as const;

/**
 * Copies what a deployment of this repository needs, and more parts of it, so that a test can
 * change files. Contract: returns the folder; the caller removes it.
 */
export function copyRepository(...more: readonly string[]): string {
  const copy = mkdtempSync(join(tmpdir(), "interlock-copy-"));
  for (const part of [...PARTS, ...more]) copyPart(part, copy);
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  return copy;
}

/** Copies a file or folder of this repository, named from its root, into a copy of it. */
export function copyPart(part: string, copy: string): void {
  cpSync(join(ROOT, part), join(copy, part), { recursive: true });
}
