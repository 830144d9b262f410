import { formatTime as formatInstant, say } from "./say.ts";

/** Formats a time in ISO 8601 for the reader; a text that is no time stays as it is. */
export function formatTime(iso: string): string {
  const atMs = Date.parse(iso);
  return Number.isFinite(atMs) ? formatInstant(atMs) : iso;
}

/** Says how often something was tried. */
export function formatAttempts(attempts: number): string {
  return attempts === 1 ? say("1 attempt") : say("{attempts} attempts", { attempts });
}
