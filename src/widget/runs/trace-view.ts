import type { RunTrace } from "../../protocol/run/trace.ts";
import { formatEnd } from "../../protocol/run/words.ts";
import { toVisible } from "../../protocol/text/visible.ts";
import { formatNumber, say, sayWords, type Text } from "../texts/say.ts";
import { el } from "../dom.ts";
import type { ReadTrace } from "./api.ts";
import { drawCall } from "./call-view.ts";
import { drawEntries, drawPairs, linkRun } from "./facts.ts";
import { formatDuration, formatTime, formatTokens, RUN_STATES, wordsOf } from "./labels.ts";
import { drawTimeline } from "./timeline.ts";

/** Draws what decided a run. A link to a run is `#` and its id; the page opens it. */
export function drawTrace({ trace, records }: ReadTrace, nowMs: number): HTMLElement {
  const entries = records.map(({ entry }) => entry);
  const ofRun = entries.filter(({ invocationId }) => invocationId === undefined);
  const calls = trace.calls.map((call) => drawCall(call, trace, entries));
  const late = trace.notices.arePending
    ? [el("p", { class: "note" }, say("The audit log does not have all records of this run yet."))]
    : [];
  return el(
    "article",
    { class: "trace", tabindex: "-1", "aria-label": say("Run") },
    el("h2", {}, toVisible(formatEnd(trace.run, sayWords)).text),
    drawFacts(trace),
    ...late,
    drawTimeline(trace, nowMs),
    ...(calls.length > 0 ? [el("section", { "aria-label": say("Calls") }, ...calls)] : []),
    drawSection("The run", drawEntries(ofRun)),
    drawSection("Versions", drawPins(trace)),
  );
}

function drawFacts({ run, claim, steps, spending, incarnations }: RunTrace): HTMLElement {
  const { timestamps, call, error, model } = run;
  const { createdAt, endedAt } = timestamps;
  const { actorId, subjectId, minterId } = claim;
  const for_ = subjectId === undefined ? "" : say(" for {name}", { name: subjectId });
  const through =
    minterId === undefined ? "" : say(", through a page of {name}", { name: minterId });
  const took = endedAt && formatDuration(Date.parse(endedAt) - Date.parse(createdAt));
  const cost =
    spending.cost === undefined
      ? ""
      : say(", cost {amount}", { amount: formatNumber(spending.cost / 1_000_000) });
  const state = wordsOf(RUN_STATES, run.status);
  const again = incarnations.count - 1;
  return drawPairs([
    ["Run", el("code", {}, run.runId)],
    ["State", error ? `${state}, ${error.code}` : state],
    ["Started by", `${actorId}${for_}${through}`],
    ["Started", formatTime(createdAt)],
    ["Took", took],
    ["Model", call ? undefined : `${model}, ${formatSteps(steps.length)}`],
    ["Cost", call ? undefined : `${formatTokens(steps)}${cost}`],
    ["Direct call", call?.toolId],
    ["Undoes a call of", call?.undoes && linkRun(call.undoes.runId)],
    ["Conversation", claim.conversationId && linkRun(claim.conversationId)],
    ["Interruptions", again > 0 ? String(again) : undefined],
  ]);
}

function drawPins({ pins, claim }: RunTrace): HTMLElement {
  const { assistant, policy, promptHash, wire, observationSchema, wrapperVersion } = pins;
  const of = ({ revision }: { readonly revision?: number }): string =>
    revision === undefined ? say("of the deployment") : say("revision {revision}", { revision });
  return drawPairs([
    ["Assistant", assistant && `${assistant.id}, ${of(assistant)}`],
    ["Policy", policy ? `${of(policy)}, ${policy.hash}` : say("none: it allows nothing")],
    ["Prompt", promptHash],
    ["Wire", wire],
    ["Observations", observationSchema?.toString()],
    ["Interlock", wrapperVersion],
    ["Roles", claim.roles.join(", ") || undefined],
    ["Scopes", claim.scopes.join(", ") || undefined],
  ]);
}

function formatSteps(count: number): string {
  return count === 1 ? say("1 step") : say("{count} steps", { count });
}

function drawSection(title: Text, content: HTMLElement): HTMLElement {
  return el("section", { "aria-label": say(title) }, el("h3", {}, say(title)), content);
}
