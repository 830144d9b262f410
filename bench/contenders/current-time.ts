/** The tools of the contenders that have no tools of their own. */
export const DESCRIPTION = "Tells the current date and time in one time zone.";

export const TIME_SCHEMA = {
  type: "object",
  properties: { timeZone: { type: "string", description: "IANA time zone name." } },
  required: ["timeZone"],
} as const;

export const TEXT_SCHEMA = {
  type: "object",
  properties: { text: { type: "string" } },
  required: ["text"],
} as const;

/** Returns the same output as Interlock's own tool. */
export function currentTime(timeZone: string): object {
  const now = new Date();
  const format = (locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
    new Intl.DateTimeFormat(locale, { timeZone, ...options });
  const date = { year: "numeric", month: "2-digit", day: "2-digit" } as const;
  const time = { hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;
  const local = format("sv-SE", { ...date, ...time }).format(now);
  const zone = format("en", { timeZoneName: "longOffset" })
    .formatToParts(now)
    .find((part) => part.type === "timeZoneName")?.value;
  const offset = zone === "GMT" ? "+00:00" : zone?.slice("GMT".length);
  const text = format("en-GB", { dateStyle: "full", timeStyle: "short" }).format(now);
  return { timeZone, iso: `${local.replace(" ", "T")}${offset}`, text };
}
