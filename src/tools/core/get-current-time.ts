import * as v from "valibot";
import { defineTool } from "../../contracts/define-tool.ts";
import { fail, ok } from "../../protocol/result.ts";

/** Tells the current time in one time zone. */
export const getCurrentTime = defineTool({
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
    /** Local time with its offset, ISO 8601. */
    iso: v.string(),
    /** The same for people, in English. */
    text: v.string(),
  }),
  effect: "read_only",
  redaction: { args: ["timeZone"], output: ["timeZone", "iso", "text"] },
  capabilities: ["clock"],
  execute({ timeZone }, _context, { clock }) {
    const now = new Date(clock.nowMs());
    const offset = offsetOf(timeZone, now);
    if (offset === undefined) {
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
    }
    const local = new Intl.DateTimeFormat("sv-SE", { timeZone, ...ISO_FIELDS }).format(now);
    const text = new Intl.DateTimeFormat("en-GB", { timeZone, ...TEXT_FIELDS }).format(now);
    return ok({ timeZone, iso: `${local.replace(" ", "T")}${offset}`, text });
  },
});

const ISO_FIELDS = {
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
} as const;
const TEXT_FIELDS = { dateStyle: "full", timeStyle: "short" } as const;

/** Reads the zone's offset as `+09:00`; undefined when there is no such zone. */
function offsetOf(timeZone: string, now: Date): string | undefined {
  try {
    const parts = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
    const name = parts.formatToParts(now).find((part) => part.type === "timeZoneName")?.value;
    return name === "GMT" ? "+00:00" : name?.slice("GMT".length);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
