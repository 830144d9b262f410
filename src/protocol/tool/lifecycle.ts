export const LIFECYCLE_STATUSES = ["active", "deprecated", "sunsetted"] as const;
export type LifecycleStatus = (typeof LIFECYCLE_STATUSES)[number];

/** How long a tool's version may be used (seeds/004, identity.lifecycle). */
export interface ToolLifecycle {
  readonly status: LifecycleStatus;
  /** ISO 8601 date. From that day on the version does not run. */
  readonly sunsetDate: string | null;
  /** The tool to use instead, `<name>` or `<name>@<version>`. */
  readonly replacement: string | null;
}

/** Tells whether a version has reached its end and does not run. Unit: Unix milliseconds. */
export function isSunset({ status, sunsetDate }: ToolLifecycle, nowMs: number): boolean {
  if (status === "sunsetted") return true;
  // An unreadable date counts as passed.
  return sunsetDate !== null && !(nowMs < Date.parse(sunsetDate));
}
