import type { Metafile } from "esbuild";

/**
 * Finds modules of a project that import each other: `a.ts → b.ts → a.ts`. What one of them exports
 * is not defined yet while the other one is loaded. Undefined: there are none.
 */
export function findImportCircle({ inputs }: Pick<Metafile, "inputs">): string | undefined {
  const done = new Set<string>();
  const follow = (file: string, path: readonly string[]): readonly string[] | undefined => {
    const start = path.indexOf(file);
    if (start !== -1) return [...path.slice(start), file];
    if (done.has(file)) return undefined;
    for (const { path: next, external } of inputs[file]?.imports ?? []) {
      const circle = external === true ? undefined : follow(next, [...path, file]);
      if (circle) return circle;
    }
    done.add(file);
    return undefined;
  };
  const own = Object.keys(inputs).filter((file) => !file.includes("node_modules/"));
  for (const file of own) {
    const circle = follow(file, []);
    if (circle?.every((part) => own.includes(part))) return circle.join(" → ");
  }
  return undefined;
}
