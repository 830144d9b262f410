const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** Formats a time in ISO 8601 for the reader; a text that is no time stays as it is. */
export function formatTime(iso: string): string {
  const atMs = Date.parse(iso);
  return Number.isFinite(atMs) ? TIME.format(atMs) : iso;
}
