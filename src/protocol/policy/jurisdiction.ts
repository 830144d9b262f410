import type { ToolPolicy } from "./document.ts";

/** Where a service lies that a call reaches. */
export type Reached = {
  /** Name of an upstream, or a host. */
  readonly service: string;
  /** Regions of the policy; empty: it lies in none. */
  readonly regions: readonly string[];
};

/**
 * Tells in which regions lies what a call reaches; undefined where the policy names no region, or
 * the tool reaches nothing. Contract: pure.
 */
export function jurisdictionOf(
  { regions }: Pick<ToolPolicy, "regions">,
  destinations: readonly string[],
): readonly Reached[] | undefined {
  const places = Object.entries(regions);
  if (places.length === 0 || destinations.length === 0) return undefined;
  return destinations.map((service) => ({
    service,
    regions: places.flatMap(([id, { upstreams }]) => (upstreams.includes(service) ? [id] : [])),
  }));
}
