/** A metric family as a scraper reads it. */
export interface Metric {
  readonly type: string;
  readonly samples: ReadonlyMap<string, number>;
}

const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: ["_total"],
  gauge: [""],
  histogram: ["_bucket", "_count", "_sum"],
};
const LABEL = String.raw`[a-z_]+="(?:[^"\\\n]|\\["\\n])*"`;
const SAMPLE = new RegExp(
  String.raw`^([a-z][a-z0-9_]*)(\{${LABEL}(?:,${LABEL})*\})? (\d+(?:\.\d+)?(?:e-?\d+)?)$`,
);

/**
 * Reads a text of OpenMetrics as strictly as its specification asks: families in one piece, with a
 * type and a help; samples with the suffix of their type, none twice; buckets that grow; the end.
 * Fails: throws at the first line that breaks a rule.
 */
export function readOpenMetrics(text: string): ReadonlyMap<string, Metric> {
  if (!text.endsWith("# EOF\n")) throw new Error("the text has no end");
  const families = new Map<string, Metric & { samples: Map<string, number> }>();
  let current = "";
  for (const line of text.slice(0, -"# EOF\n".length).split("\n").slice(0, -1)) {
    const [, keyword = "", name = "", rest = ""] =
      /^# (TYPE|UNIT|HELP) (\S+) (.+)$/.exec(line) ?? [];
    if (keyword === "TYPE") {
      if (families.has(name) || !SUFFIXES[rest])
        throw new Error(`a second or unknown type: ${line}`);
      families.set(name, { type: rest, samples: new Map() });
      current = name;
    } else if (keyword === "") addSample(families.get(current), current, line);
    else if (name !== current) throw new Error(`not of ${current}: ${line}`);
    else if (keyword === "UNIT" && !name.endsWith(`_${rest}`)) throw new Error(`no unit: ${line}`);
  }
  return families;
}

function addSample(
  family: { readonly type: string; readonly samples: Map<string, number> } | undefined,
  name: string,
  line: string,
): void {
  const [, full = "", labels = "", value = ""] = SAMPLE.exec(line) ?? [];
  const isOwn = SUFFIXES[family?.type ?? ""]?.some((suffix) => full === `${name}${suffix}`);
  const key = `${full}${labels}`;
  if (!family || !isOwn || family.samples.has(key))
    throw new Error(`no sample of ${name}: ${line}`);
  family.samples.set(key, Number(value));
}
