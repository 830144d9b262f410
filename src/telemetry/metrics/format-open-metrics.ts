/** One value of a metric family. */
export interface Sample {
  readonly suffix?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Samples of one kind. */
export interface Family {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly unit?: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** Content type of the text; see https://prometheus.io/docs/specs/om/open_metrics_spec/ . */
export const OPEN_METRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/** Writes families in the text format of OpenMetrics 1.0. Contract: pure. */
export function formatOpenMetrics(families: readonly Family[]): string {
  return `${families.map(formatFamily).join("")}# EOF\n`;
}

function formatFamily({ name, type, unit, help, samples }: Family): string {
  const lines = [
    `# TYPE ${name} ${type}`,
    ...(unit === undefined ? [] : [`# UNIT ${name} ${unit}`]),
    `# HELP ${name} ${escapeText(help)}`,
    ...samples.map((sample) => formatSample(name, sample)),
  ];
  return `${lines.join("\n")}\n`;
}

function formatSample(name: string, { suffix = "", labels, value }: Sample): string {
  const named = Object.entries(labels).map(([label, text]) => `${label}="${escapeText(text)}"`);
  const set = named.length === 0 ? "" : `{${named.join(",")}}`;
  return `${name}${suffix}${set} ${value}`;
}

function escapeText(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
