import type { JsonObject, JsonValue } from "../../src/protocol/json/value.ts";
import { memberOf } from "../../src/protocol/json/pointer.ts";
import { isJsonArray, isJsonObject } from "../../src/protocol/json/value.ts";
import { countOf } from "../../src/protocol/run/words.ts";
import { CommandError } from "../command.ts";
import { type Answer, describeAnswer, type Send } from "../push/deployment-client.ts";

export interface ExportPorts {
  readonly send: Send;
  /** Writes a file of the export. */
  readonly write: (name: string, answer: JsonObject) => void;
  /** Writes the audit log, and hands on each line. */
  readonly writeLog: () => AsyncIterable<string>;
  readonly progress: (line: string) => void;
}

/** Runs of a page of the list. */
const PAGE = 50;
/** A line of progress after so many runs. */
const TOLD_EVERY = 25;

/**
 * Writes the traces and the replays of the last runs that ended, then the audit log, so that it has
 * each record of each trace, then the contracts of the tools that the log names.
 * Contract: what a deployment does not tell of one run is counted in the lines that are returned.
 * Fails: throws a CommandError when it answers nobody, or not this caller.
 */
export async function exportRuns(ports: ExportPorts, last: number): Promise<readonly string[]> {
  const runIds = await listEnded(ports, last);
  const parts = { traces: new Part(), replays: new Part(), contracts: new Part() };
  for (const [index, runId] of runIds.entries()) {
    if (index > 0 && index % TOLD_EVERY === 0) ports.progress(`${index} of ${runIds.length} runs`);
    await exportRun(ports, runId, parts);
  }
  ports.progress("the audit log");
  for (const toolId of await toolsOf(ports.writeLog())) {
    const answer = await ask(ports, { method: "GET", path: `/v1/tools/${toolId}` });
    if (parts.contracts.takes(answer)) ports.write(`${toolId}.tool.json`, answer.body);
  }
  return Object.entries(parts).map(([name, part]) => part.describe(name));
}

/** The tools of which a log has a version. A name that a model made up has none. */
async function toolsOf(lines: AsyncIterable<string>): Promise<ReadonlySet<string>> {
  const toolIds = new Set<string>();
  for await (const line of lines) {
    const entry = memberOf(parse(line), "entry");
    const [toolId, version] = [memberOf(entry, "toolId"), memberOf(entry, "toolVersion")];
    if (typeof toolId === "string" && typeof version === "string" && NAME.test(toolId)) {
      toolIds.add(toolId);
    }
  }
  return toolIds;
}

function parse(line: string): JsonValue {
  try {
    return JSON.parse(line) as JsonValue;
  } catch {
    return null;
  }
}

async function exportRun(
  ports: ExportPorts,
  runId: string,
  { traces, replays }: { readonly traces: Part; readonly replays: Part },
): Promise<void> {
  const path = `/v1/runs/${runId}`;
  const trace = await ask(ports, { method: "GET", path: `${path}/trace?limit=100` });
  if (!traces.takes(trace)) return;
  const { notices } = trace.body;
  // The log does not have all of its records yet, so it would contradict this trace.
  if (isJsonObject(notices) && notices["arePending"] === true) return traces.leave("not_reported");
  ports.write(`${runId}.trace.json`, trace.body);
  const replay = await ask(ports, { method: "POST", path: `${path}/replay` });
  if (replays.takes(replay)) ports.write(`${runId}.replay.json`, replay.body);
}

/** How much of one kind an export has, and what it lacks, by the reason. */
class Part {
  #taken = 0;
  readonly #lacking = new Map<string, number>();

  takes(answer: Answer): answer is Answer & { readonly kind: "ok" } {
    if (answer.kind === "ok") this.#taken += 1;
    else if (answer.kind === "refused") this.#count(answer.refusal.code);
    return answer.kind === "ok";
  }

  /** Leaves out what was taken. */
  leave(reason: string): void {
    this.#taken -= 1;
    this.#count(reason);
  }

  #count(reason: string): void {
    this.#lacking.set(reason, (this.#lacking.get(reason) ?? 0) + 1);
  }

  describe(name: string): string {
    const lacking = [...this.#lacking].map(([reason, count]) => `${reason} ${count}`);
    const left = lacking.length > 0 ? `; without: ${lacking.join(", ")}` : "";
    return `${name}: ${this.#taken}${left}`;
  }
}

/** Lists runs that ended, the newest first. */
async function listEnded(ports: ExportPorts, last: number): Promise<readonly string[]> {
  const ended: string[] = [];
  for (let cursor = ""; ;) {
    const path = `/v1/runs?limit=${PAGE}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
    const answer = await ask(ports, { method: "GET", path });
    if (answer.kind !== "ok") throw new CommandError(describeAnswer(path, answer));
    const { runs, next } = answer.body;
    if (!isJsonArray(runs)) throw new CommandError(describeAnswer(path, answer));
    ended.push(...runs.flatMap((run) => readEnded(run) ?? []));
    if (typeof next !== "string" || ended.length >= last) return ended.slice(0, last);
    cursor = next;
    ports.progress(`${countOf(ended.length, "run")} found`);
  }
}

/** Threat: a name that leads out of the folder, or to another route. */
const NAME = /^\w[\w-]{0,127}$/;

function readEnded(run: JsonValue): string | undefined {
  if (!isJsonObject(run) || typeof run["endedAt"] !== "string") return undefined;
  const { runId } = run;
  return typeof runId === "string" && NAME.test(runId) ? runId : undefined;
}

/** Asks for one thing. Fails: throws where no further request would be answered either. */
async function ask({ send }: ExportPorts, request: Parameters<Send>[0]): Promise<Answer> {
  const answer = await send(request);
  const isDenied = answer.kind === "refused" && [401, 403, 429].includes(answer.refusal.status);
  if (answer.kind === "no_answer" || isDenied) {
    throw new CommandError(describeAnswer(request.path, answer));
  }
  return answer;
}

const PLAIN = /^[\w.:+/=-]+$/;

/**
 * Writes the command that looks at an export, for a shell. `headers` are those of the log.
 * Threat: a server that sends a command in a header, or characters that a terminal obeys.
 */
export function formatEvaluate(folder: string, headers: Headers): string {
  const anchors = ["head", "key"].flatMap((name) => {
    const sent = headers.get(`x-audit-${name}`) ?? "";
    return PLAIN.test(sent) ? [`--${name} ${sent}`] : [];
  });
  const path = PLAIN.test(folder) ? folder : `'${folder.replaceAll("'", String.raw`'\''`)}'`;
  return ["npx interlock evaluate", "--runs", path, ...anchors].join(" ");
}
