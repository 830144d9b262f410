/** What a person wrote as the systems of a plan. */
export interface PlanScope {
  readonly systemIds: readonly string[];
  /** Absent: the order of building decides. */
  readonly phases?: { readonly name: string; readonly systemIds: string[] }[];
  /** Lines that name no system. */
  readonly unknown: readonly string[];
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/**
 * Reads lines of names. A line that ends with a colon begins a phase; a leading dash or number is a
 * mark of a list. Contract: pure. Capitals do not matter.
 */
export function readScope(text: string, systems: readonly Named[]): PlanScope {
  const known = new Map(systems.map(({ id, name }) => [name.toLowerCase(), id]));
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

function withoutMark(line: string): string {
  return line.replace(/^(?:[-*]|\d+[.)])\s+/, "");
}
