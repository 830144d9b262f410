import * as v from "valibot";
import { defineCoreTool } from "../contracts/define/core-tool.ts";
import { fail, ok } from "../protocol/outcome/result.ts";

/** Tells the current time in one time zone. */
export const getCurrentTime = defineCoreTool({
  name: "core__get_current_time",
  version: "1.0.0",
  description:
    "Tells the current date and time in one time zone. Use it whenever an answer depends on now. " +
    "For several places, call it once per time zone. It does not convert other times.",
  input: v.strictObject({
    timeZone: v.pipe(
      v.string(),
      v.minLength(1),
      v.maxLength(64),
      v.description('IANA time zone name, such as "Asia/Tokyo" or "UTC".'),
    ),
  }),
  output: v.strictObject({
    timeZone: v.string(),
    /** With its offset, ISO 8601. */
    localTime: v.string(),
    /** The same for people, in English. */
    inWords: v.string(),
  }),
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: ["timeZone"], output: ["timeZone", "localTime", "inWords"] },
  capabilities: ["clock"],
  allowedUseCases: ["The answer depends on the present date or time."],
  forbiddenUseCases: ["Converting a time that somebody named."],
  examples: [{ description: "Now in Tokyo.", arguments: { timeZone: "Asia/Tokyo" } }],
  runtime: { timeoutMs: 1000 },
  security: { dataClassification: "public" },
  errors: { unknown_time_zone: "SEMANTIC_INVALIDITY" },
  execute({ timeZone }, _context, { clock }) {
    const local = localTime(timeZone, new Date(clock.nowMs()));
    if (local) return ok({ timeZone, ...local });
    return fail({
      taxonomyClass: "SEMANTIC_INVALIDITY",
      errors: [
        {
          field: "/timeZone",
          code: "unknown_time_zone",
          message: "expected an IANA time zone name such as Asia/Tokyo",
        },
      ],
    });
  },
});

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** Reads the clock in a zone; undefined when there is no such zone. */
function localTime(
  timeZone: string,
  now: Date,
): { localTime: string; inWords: string } | undefined {
  const offset = offsetOf(timeZone, now);
  if (offset === undefined) return undefined;
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)/.exec(offset) ?? [];
  const aheadMinutes = Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes));
  // A date whose UTC fields are the zone's own.
  const local = new Date(now.getTime() + aheadMinutes * 60_000);
  const day = `${WEEKDAYS[local.getUTCDay()]}, ${local.getUTCDate()} ${MONTHS[local.getUTCMonth()]}`;
  const iso = local.toISOString();
  return {
    localTime: `${iso.slice(0, "YYYY-MM-DDTHH:MM:SS".length)}${offset}`,
    inWords: `${day} ${local.getUTCFullYear()} at ${iso.slice("YYYY-MM-DDT".length, "YYYY-MM-DDTHH:MM".length)}`,
  };
}

/** Reads the zone's offset as `+09:00`. */
function offsetOf(timeZone: string, now: Date): string | undefined {
  const parts = formatterOf(timeZone)?.formatToParts(now);
  const name = parts?.find((part) => part.type === "timeZoneName")?.value;
  return name === "GMT" ? "+00:00" : name?.slice("GMT".length);
}

/** Making a formatter is most of what this tool costs, so the latest ones are kept. */
const formatters = new Map<string, Intl.DateTimeFormat>();
const MAX_FORMATTERS = 64;

function formatterOf(timeZone: string): Intl.DateTimeFormat | undefined {
  const known = formatters.get(timeZone);
  if (known) return known;
  let made: Intl.DateTimeFormat;
  try {
    made = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  const [oldest] = formatters.keys();
  if (oldest !== undefined && formatters.size >= MAX_FORMATTERS) formatters.delete(oldest);
  formatters.set(timeZone, made);
  return made;
}
