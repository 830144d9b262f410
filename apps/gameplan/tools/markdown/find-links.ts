import { quote } from "../cut-text.ts";
import { readLinkLine } from "./link-line.ts";

/** A system as others name it. */
export interface NamedSystem {
  readonly systemId: string;
  readonly name: string;
}

/** Finds the systems of a name or of a short name. Capitals do not matter. */
export type FindNamed = (column: "slug" | "name", value: string) => readonly NamedSystem[];

/** A system on which the new one depends. */
interface FoundLink {
  readonly target: { readonly id: string; readonly name: string };
  readonly type: ReturnType<typeof readLinkLine>["type"];
}

/** A system has at most as many dependencies: a page of the graph holds all of them. */
export const MOST_DEPENDENCIES = 200;

/**
 * Creates what finds the systems on which a new system depends: `take` answers whether a line of
 * its document adds one. A new system closes no circle, because nothing depends on it.
 */
export function createLinkFinder(find: FindNamed) {
  const found: FoundLink[] = [];
  /** What adds none. */
  const warnings: string[] = [];
  const take = (line: string): boolean => {
    const { name, type } = readLinkLine(line);
    const [system, other] = found.length < MOST_DEPENDENCIES ? findNamed(find, name) : [];
    if (!system || other || found.some(({ target }) => target.id === system.systemId)) {
      warnings.push(`${quote(name)} names no system, several, or one too many.`);
      return false;
    }
    found.push({ target: { id: system.systemId, name: system.name }, type });
    return true;
  };
  return { found, warnings, take };
}

/** A short name behind a name, in brackets, goes first. */
function findNamed(find: FindNamed, name: string): readonly NamedSystem[] {
  const bySlug = find("slug", / \(([^()]*)\)$/.exec(name)?.[1] ?? name);
  return bySlug.length > 0 ? bySlug : find("name", name);
}
