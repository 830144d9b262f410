/**
 * Reads a time of a test as Unix milliseconds; undefined without one.
 * Fails: throws for a text that is no time.
 */
export function readTime(time: string | number | Date | undefined): number | undefined {
  if (time === undefined) return undefined;
  const ms = new Date(time).getTime();
  if (Number.isNaN(ms))
    throw new Error(`now is no time: ${String(time)}. Write 2026-01-02T03:04:05Z.`);
  return ms;
}
