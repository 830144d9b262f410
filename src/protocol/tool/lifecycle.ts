export const LIFECYCLE_STATUSES = ["active", "deprecated", "sunsetted"] as const;
export type LifecycleStatus = (typeof LIFECYCLE_STATUSES)[number];

/** How long a version of a tool may be used (seeds/004, identity.lifecycle). */
export interface ToolLifecycle {
  readonly status: LifecycleStatus;
  /** ISO 8601 date; from that day on the version no longer runs. */
  readonly sunsetDate: string | null;
  /** `<name>` or `<name>@<version>` to use instead. */
  readonly replacement: string | null;
}

/** Tells whether a version still runs. Unit: Unix milliseconds. */
export function isSunset({ status, sunsetDate }: ToolLifecycle, nowMs: number): boolean {
  if (status === "sunsetted") return true;
  // A date that cannot be read has passed.
  return sunsetDate !== null && !(nowMs < Date.parse(sunsetDate));
}
