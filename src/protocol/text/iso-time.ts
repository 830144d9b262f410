/**
 * Formats a time as ISO 8601, UTC: the form of every time that leaves a run. Unit: Unix
 * milliseconds.
 */
export function toIso(unixMs: number): string {
  return new Date(unixMs).toISOString();
}
