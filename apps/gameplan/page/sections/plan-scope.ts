/** What a person wrote as the systems of a plan. */
export interface PlanScope {
  readonly systemIds: readonly string[];
  /** Absent: the order of building decides. */
  readonly phases?: { readonly name: string; readonly systemIds: string[] }[];
  /** Lines that name no system. */
  readonly unknown: readonly string[];
}

/** A system as people name it. Its short name tells it from others of its name. */
export interface NamedSystem {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
}

/**
 * Reads lines of names. A line that ends with a colon begins a phase; a leading dash or number is a
 * mark of a list. Contract: pure. Capitals do not matter.
 */
export function readScope(text: string, systems: readonly NamedSystem[]): PlanScope {
  const known = knownNames(systems);
  const phases: { readonly name: string; readonly systemIds: string[] }[] = [];
  const systemIds: string[] = [];
  const unknown: string[] = [];
  for (const line of text.split("\n").map((part) => part.trim())) {
    if (line === "") continue;
    const id = known.get(line.toLowerCase()) ?? known.get(withoutMark(line).toLowerCase());
    if (id !== undefined) {
      systemIds.push(id);
      phases.at(-1)?.systemIds.push(id);
    } else if (line.endsWith(":")) {
      phases.push({
        name: line.slice(0, -1).trim() || `Phase ${phases.length + 1}`,
        systemIds: [],
      });
    } else {
      unknown.push(`"${line}"`);
    }
  }
  const inPhases = phases.reduce((sum, phase) => sum + phase.systemIds.length, 0);
  // Systems before the first phase are a phase of their own.
  const first = systemIds.slice(0, systemIds.length - inPhases);
  const all = first.length > 0 ? [{ name: "Phase 1", systemIds: first }, ...phases] : phases;
  return { systemIds, unknown, ...(phases.length > 0 && { phases: all }) };
}

/** Ids by name and by short name. A name goes before a short name. */
function knownNames(systems: readonly NamedSystem[]): ReadonlyMap<string, string> {
  const slugs = systems.map(({ id, slug }) => [slug, id] as const);
  return new Map([...slugs, ...systems.map(({ id, name }) => [name.toLowerCase(), id] as const)]);
}

interface WrittenPhase {
  readonly name: string;
  readonly systems: readonly NamedSystem[];
}

/** Writes phases as `readScope` reads them. A name that several systems have is a short name. */
export function writeScope(
  phases: readonly WrittenPhase[],
  systems: readonly NamedSystem[],
): string {
  const known = knownNames(systems);
  const nameOf = ({ id, name, slug }: NamedSystem): string =>
    (known.get(name.toLowerCase()) ?? id) === id ? name : slug;
  return phases
    .map((phase) => [`${phase.name}:`, ...phase.systems.map(nameOf)].join("\n"))
    .join("\n\n");
}

/** Says what is wrong with a scope; undefined: nothing. */
export function sayProblem({ systemIds, phases = [], unknown }: PlanScope): string | undefined {
  if (unknown.length > 0) return `No system of this project is called ${unknown.join(", ")}.`;
  const empty = phases.find((phase) => phase.systemIds.length === 0);
  if (empty) return `The phase "${empty.name}" has no system.`;
  const twice = systemIds.length - new Set(systemIds).size;
  if (twice > 0) return "A system stands in a plan once.";
  return systemIds.length === 0 ? "Write the name of at least one system." : undefined;
}

function withoutMark(line: string): string {
  return line.replace(/^(?:[-*]|\d+[.)])\s+/, "");
}
