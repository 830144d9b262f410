import type { RunTrace } from "../../protocol/run/trace.ts";
import { countOf, formatEnd } from "../../protocol/run/words.ts";
import { toVisible } from "../../protocol/text/visible.ts";
import { el } from "../dom.ts";
import type { ReadTrace } from "./api.ts";
import { drawCall } from "./call-view.ts";
import { drawEntries, drawPairs, linkRun } from "./facts.ts";
import { formatDuration, formatTime, formatTokens } from "./labels.ts";
import { drawTimeline } from "./timeline.ts";

/** Draws what decided a run. A link to a run is `#` and its id; the page opens it. */
export function drawTrace({ trace, records }: ReadTrace, nowMs: number): HTMLElement {
  const entries = records.map(({ entry }) => entry);
  const ofRun = entries.filter(({ invocationId }) => invocationId === undefined);
  const calls = trace.calls.map((call) => drawCall(call, trace, entries));
  const late = trace.notices.arePending
    ? [el("p", { class: "note" }, "The audit log does not have all records of this run yet.")]
    : [];
  return el(
    "article",
    { class: "trace", tabindex: "-1", "aria-label": "Run" },
    el("h2", {}, toVisible(formatEnd(trace.run)).text),
    drawFacts(trace),
    ...late,
    drawTimeline(trace, nowMs),
    ...(calls.length > 0 ? [el("section", { "aria-label": "Calls" }, ...calls)] : []),
    section("The run", drawEntries(ofRun)),
    section("Versions", drawPins(trace)),
  );
}

function drawFacts({ run, claim, steps, spending, incarnations }: RunTrace): HTMLElement {
  const { timestamps, call, error, model } = run;
  const { createdAt, endedAt } = timestamps;
  const { actorId, subjectId, minterId } = claim;
  const for_ = subjectId === undefined ? "" : ` for ${subjectId}`;
  const through = minterId === undefined ? "" : `, through a page of ${minterId}`;
  const took = endedAt && formatDuration(Date.parse(endedAt) - Date.parse(createdAt));
  const cost = spending.cost === undefined ? "" : `, cost ${spending.cost / 1_000_000}`;
  return drawPairs([
    ["Run", el("code", {}, run.runId)],
    ["State", error ? `${run.status}, ${error.code}` : run.status],
    ["Started by", `${actorId}${for_}${through}`],
    ["Started", formatTime(createdAt)],
    ["Took", took],
    ["Model", call ? undefined : `${model}, ${countOf(steps.length, "step")}`],
    ["Cost", call ? undefined : `${formatTokens(steps)}${cost}`],
    ["Direct call", call?.toolId],
    ["Undoes a call of", call?.undoes && linkRun(call.undoes.runId)],
    ["Conversation", claim.conversationId && linkRun(claim.conversationId)],
    [
      "Interruptions",
      incarnations.count > 1 ? countOf(incarnations.count - 1, "interruption") : undefined,
    ],
  ]);
}

function drawPins({ pins, claim }: RunTrace): HTMLElement {
  const { assistant, policy, promptHash, wire, observationSchema, wrapperVersion } = pins;
  const of = ({ revision }: { readonly revision?: number }): string =>
    revision === undefined ? "of the deployment" : `revision ${revision}`;
  return drawPairs([
    ["Assistant", assistant && `${assistant.id}, ${of(assistant)}`],
    ["Policy", policy ? `${of(policy)}, ${policy.hash}` : "none: it allows nothing"],
    ["Prompt", promptHash],
    ["Wire", wire],
    ["Observations", observationSchema === undefined ? undefined : `version ${observationSchema}`],
    ["Interlock", wrapperVersion],
    ["Roles", claim.roles.join(", ") || undefined],
    ["Scopes", claim.scopes.join(", ") || undefined],
  ]);
}

function section(title: string, content: HTMLElement): HTMLElement {
  return el("section", { "aria-label": title }, el("h3", {}, title), content);
}
