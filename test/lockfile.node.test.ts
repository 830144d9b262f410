import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

interface Lockfile {
  readonly packages: Readonly<
    Record<string, { readonly optionalDependencies?: Readonly<Record<string, string>> }>
  >;
}

describe.each(["package-lock.json", "bench/package-lock.json"])("%s", (file) => {
  const text = readFileSync(file, "utf8");

  test("names a binary for every platform, so that npm ci works on each of them", () => {
    const { packages } = JSON.parse(text) as Lockfile;
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies }]) =>
      Object.keys(optionalDependencies ?? {}).filter(
        (name) =>
          !(`${path}/node_modules/${name}` in packages) && !(`node_modules/${name}` in packages),
      ),
    );
    expect(missing).toEqual([]);
  });

  test("names no place to download from", () => {
    expect(text).not.toContain('"resolved"');
  });
});
