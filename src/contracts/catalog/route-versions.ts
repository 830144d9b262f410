import { fnv1a } from "../../protocol/text/fnv1a.ts";
import { entryOf } from "../../protocol/policy/decide.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { isSunset } from "../../protocol/tool/lifecycle.ts";
import type { ToolSpec } from "../../protocol/tool/spec.ts";

/** What the choice of versions depends on. */
export interface Routing {
  /** Constant for a whole run, so that a run never changes its versions. Absent: no canary. */
  readonly runKey?: string;
  readonly nowMs: number;
}

/**
 * Chooses the version of each tool for one run: the canary for its share of runs, else the first
 * version that policy lists, else the newest active version, else the newest that still runs.
 * Contract: pure; it leaves out a tool without a version that runs.
 */
export function routeVersions(
  specs: readonly ToolSpec[],
  policy: ToolPolicy,
  { runKey, nowMs }: Routing,
): ReadonlyMap<string, ToolSpec> {
  const runnable = new Map<string, ToolSpec[]>();
  for (const spec of specs) {
    if (isSunset(spec.lifecycle, nowMs)) continue;
    const known = runnable.get(spec.name);
    if (known) known.push(spec);
    else runnable.set(spec.name, [spec]);
  }
  const routed = new Map<string, ToolSpec>();
  for (const [toolId, versions] of runnable) {
    const spec = choose(versions, policy, runKey);
    if (spec) routed.set(toolId, spec);
  }
  return routed;
}

function choose(
  versions: readonly ToolSpec[],
  policy: ToolPolicy,
  runKey: string | undefined,
): ToolSpec | undefined {
  const [first] = versions;
  const entry = first && entryOf(policy, first.name);
  const find = (version: string): ToolSpec | undefined =>
    versions.find((spec) => spec.version === version);
  if (
    entry?.canary &&
    runKey !== undefined &&
    percentOf(`${entry.id}:${runKey}`) < entry.canary.percent
  ) {
    const canary = find(entry.canary.version);
    if (canary) return canary;
  }
  if (entry?.versions) return entry.versions.flatMap((version) => find(version) ?? [])[0];
  // Runs outside the canary's share keep their version, even if the canary is the newest.
  const others = versions.filter(({ version }) => version !== entry?.canary?.version);
  const stable = others.length > 0 ? others : versions;
  const active = stable.filter(({ lifecycle }) => lifecycle.status === "active");
  return newest(active.length > 0 ? active : stable);
}

function newest(versions: readonly ToolSpec[]): ToolSpec | undefined {
  return versions.toSorted((a, b) => compareVersions(b.version, a.version))[0];
}

/** Compares `1.2.3` number by number. */
export function compareVersions(a: string, b: string): number {
  const left = a.split(".").map(Number);
  const right = b.split(".").map(Number);
  for (const [index, part] of left.entries()) {
    const difference = part - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Spreads keys evenly over [0, 100). The value need not be secret. */
function percentOf(key: string): number {
  let hash = fnv1a(key);
  // The low bits of FNV-1a differ little between similar keys.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32) * 100;
}
