import type { Crash, CrashMode } from "../scenario.ts";

/** Writes of the tenants' objects since the last plan, and all their crashes. */
export interface TenantRecord {
  /** Labels of the writes, over all incarnations. */
  readonly points: readonly string[];
  readonly crashes: number;
}

let planned: Crash | null = null;
let points: string[] = [];
let crashes = 0;

/** Plans a crash at a write from now on, whichever incarnation comes to it. Null: no crash. */
export function planTenantCrash(crash: Crash | null): void {
  planned = crash;
  points = [];
}

/** Counts a write. Returns how the object crashes at it. */
export function tenantCrashAt(label: string): CrashMode | undefined {
  return points.push(label) === planned?.point ? planned.mode : undefined;
}

export function noteTenantCrash(): void {
  crashes++;
}

export function tenantRecord(): TenantRecord {
  return { points, crashes };
}
