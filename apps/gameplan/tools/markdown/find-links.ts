import { quote } from "../cut-text.ts";
import { readLinkLine } from "./link-line.ts";

/** A system as others name it. */
export interface NamedSystem {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
}

/** A system on which the new one depends. */
interface FoundLink {
  readonly target: NamedSystem;
  readonly type: ReturnType<typeof readLinkLine>["type"];
}

/** A system has at most as many dependencies: a page of the graph holds all of them. */
export const MOST_DEPENDENCIES = 200;

/**
 * Creates what finds the systems on which a new system depends: `take` answers whether a line of
 * its document adds one. A new system closes no circle, because nothing depends on it. `read`
 * answers the systems of the project, once it is needed.
 */
export function createLinkFinder(read: () => readonly NamedSystem[]) {
  const found: FoundLink[] = [];
  /** What adds none. */
  const warnings: string[] = [];
  let find: ReturnType<typeof findBy> | undefined;
  const take = (line: string): boolean => {
    const { name, type } = readLinkLine(line);
    find ??= findBy(read());
    const [target, other] = found.length < MOST_DEPENDENCIES ? find(name) : [];
    if (!target || other || found.some((link) => link.target === target)) {
      warnings.push(`${quote(name)} names no system, several, or one too many.`);
      return false;
    }
    found.push({ target, type });
    return true;
  };
  return { found, warnings, take };
}

/** Finds systems by a name or a short name. Capitals do not matter. */
function findBy(systems: readonly NamedSystem[]) {
  const fold = (text: string): string => text.toLowerCase();
  const bySlug = Map.groupBy(systems, ({ slug }) => fold(slug));
  const byName = Map.groupBy(systems, ({ name }) => fold(name));
  // A short name behind a name, in brackets, goes first.
  return (name: string): readonly NamedSystem[] =>
    bySlug.get(fold(/ \(([^()]*)\)$/.exec(name)?.[1] ?? name)) ?? byName.get(fold(name)) ?? [];
}
