import type { RunJournal } from "../../capabilities/run-journal.ts";
import type { Log } from "../../capabilities/log.ts";
import type { Clock } from "../../capabilities/system.ts";
import type { AttemptScope, BoundToolRuntime, ProgressReport } from "../../capabilities/tool.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { ToolInvocationContext } from "../../protocol/invocation/record.ts";
import { maskValues, withheldValues } from "../../protocol/secrets/mask-values.ts";
import { lazily } from "../../protocol/text/lazily.ts";
import { neutralise } from "../../protocol/text/untrusted.ts";
import { utf8Bytes } from "../../protocol/text/encoding.ts";
import { readShownDetails } from "../output/details.ts";
import { cutText, replaceHalves } from "../../protocol/text/whole-characters.ts";

/** More frequent reports are dropped, for readers see no difference. Unit: milliseconds. */
const PROGRESS_EVERY_MS = 100;
const MAX_REPORTS = 200;
/** Longer texts are cut. Unit: UTF-16 code units. */
const MAX_TEXT_CHARS = 200;
/** Most that one call shows of what it has found so far, all reports together. Unit: bytes. */
const MAX_FOUND_BYTES = 262_144;

/** What reports of progress need of the run. */
interface Ports {
  readonly journal: Pick<RunJournal, "append">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly log: Log;
}

/** The call that runs. */
export interface Reporting {
  readonly tool: BoundToolRuntime;
  readonly context: ToolInvocationContext;
  /** Its arguments, whole and redacted. */
  readonly accepted: { readonly args: JsonObject; readonly shown: JsonObject };
}

type Scope = Pick<AttemptScope, "signal" | "mask" | "rowSources">;

/**
 * Makes what a tool reports its progress to. Numbers and declared stages pass as they are, and a
 * text as the text of a failure does. Readers see a report at once; the model never does.
 * Contract: never throws; reports that are too frequent, too many or too late are dropped.
 */
export function progressReporter(
  ports: Ports,
  call: Reporting,
  scope: Scope,
): (progress: ProgressReport) => void {
  const { clock, journal } = ports;
  const { context, tool } = call;
  const { mask, signal } = scope;
  const clean = cleanerOf(call, scope);
  let reports = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  let lastStage: string | undefined;
  const readFound = foundReader(ports, call, scope);
  return ({ stage, done, total, text, details }) => {
    const nowMs = clock.nowMs();
    const isNews = stage !== lastStage || nowMs - lastMs >= PROGRESS_EVERY_MS;
    if (signal.aborted || !isNews || reports >= MAX_REPORTS) return;
    const known = stage !== undefined && tool.progressStages.includes(stage) ? stage : undefined;
    reports++;
    lastMs = nowMs;
    lastStage = stage;
    journal.append([
      {
        type: "tool_call_progress",
        part: context.part,
        toolCallId: context.toolCallId,
        ...(known !== undefined && { stage: known }),
        ...(isCount(done) && mask(done) === done && { done }),
        ...(isCount(total) && mask(total) === total && { total }),
        ...(typeof text === "string" && { text: clean(text) }),
        ...(details !== undefined && readFound(details)),
      },
    ]);
  };
}

/**
 * Makes what reads what a tool has found so far. It passes what the details of a result pass; what
 * would not be shown there is not shown here, and neither is what exceeds the bytes of one call.
 */
function foundReader(
  { log }: Ports,
  { tool }: Reporting,
  { mask, rowSources }: Scope,
): (found: object) => { readonly details?: JsonObject } {
  let left = MAX_FOUND_BYTES;
  return (found) => {
    const isOutputUntrusted = tool.isOutputUntrusted || rowSources.hasRead();
    const { id, version } = tool;
    const readDetails = tool.readDetails.bind(tool);
    const source = { tool: { id, version, readDetails, isOutputUntrusted }, mask };
    const read = readShownDetails(log, source, found);
    if (!("value" in read)) return {};
    left -= utf8Bytes(JSON.stringify(read.value));
    return left < 0 ? {} : { details: read.value };
  };
}

/**
 * Threat: a text repeats the secret of the connection or a withheld argument, or holds the markup
 * of a stranger.
 */
function cleanerOf(
  { tool, accepted }: Reporting,
  { mask, rowSources }: Scope,
): (text: string) => string {
  const maskArguments = lazily(() => maskValues(withheldValues(accepted.args, accepted.shown)));
  return (text) => {
    const isUntrusted = tool.isOutputUntrusted || rowSources.hasRead();
    const whole = replaceHalves(text);
    const shown = isUntrusted ? neutralise(whole).value : whole;
    // Masked before the cut, which may halve a value.
    return cutText(maskArguments()(mask(shown)), MAX_TEXT_CHARS);
  };
}

function isCount(value: number | undefined): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
