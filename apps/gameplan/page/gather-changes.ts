import type { Change } from "./changes.ts";

/** Everything that changes a project is in its activity. */
export const EVERY_ENTITY = [
  "project",
  "system",
  "dependency",
  "board",
  "brainstorm",
  "version_plan",
  "idea_thread",
  "idea_message",
  "export",
];

/** Changes of one moment are read together. Unit: milliseconds. */
const GATHER_MS = 150;

/** What changed since the last read. */
export interface Changed {
  /** Kinds of rows. */
  readonly entities: ReadonlySet<string>;
  /** Somebody changed something; else the page only lost sight of the changes for a while. */
  readonly hasNews: boolean;
}

/**
 * Creates the function that gathers changes, and hands them on together. Undefined: changes were
 * lost, so every kind of row counts as changed.
 */
export function gatherChanges(
  onChanged: (changed: Changed) => void,
): (changes: readonly Change[] | undefined) => void {
  let entities = new Set<string>();
  let hasNews = false;
  const hand = (): void => {
    const changed = { entities, hasNews };
    entities = new Set();
    hasNews = false;
    onChanged(changed);
  };
  return (changes) => {
    if (entities.size === 0) setTimeout(hand, GATHER_MS);
    for (const entity of changes?.map((change) => change.entity) ?? EVERY_ENTITY) {
      // Who was let in or removed sees other projects.
      entities.add(entity === "member" ? "project" : entity);
    }
    hasNews ||= changes !== undefined;
  };
}
