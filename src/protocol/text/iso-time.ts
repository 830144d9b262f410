/** Words a time as everything that leaves a run does: ISO 8601, UTC. Unit: Unix milliseconds. */
export function toIso(unixMs: number): string {
  return new Date(unixMs).toISOString();
}
