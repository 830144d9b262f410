import type { AuditEntry } from "../../protocol/audit/entry.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { RunTrace, TracedApproval, TracedCall } from "../../protocol/run/trace.ts";
import { formatGates } from "../../protocol/run/words.ts";
import { toVisible } from "../../protocol/text/visible.ts";
import { say, sayWords } from "../texts/say.ts";
import { el } from "../dom.ts";
import {
  formatAmounts,
  formatAsked,
  formatTime,
  STATE_WORDS,
  STATUS_WORDS,
  SUPERSEDED_WORDS,
  VOTE_WORDS,
  wordsOf,
} from "./labels.ts";
import { drawEntries, drawPairs, linkRun } from "./facts.ts";

/** Draws one call: its end, its gates, who was asked under which terms, and what was recorded. */
export function drawCall(
  call: TracedCall,
  trace: RunTrace,
  entries: readonly AuditEntry[],
): HTMLElement {
  const own = entries.filter(({ invocationId }) => invocationId === call.invocationId);
  const approvals = trace.approvals.filter(
    ({ invocationId }) => invocationId === call.invocationId,
  );
  const name = `${call.name} ${call.version}`;
  const outcome = call.outcome ?? call.state;
  return el(
    "section",
    { class: "call", id: call.invocationId, tabindex: "-1", "aria-label": toVisible(name).text },
    el("h3", {}, el("bdi", {}, toVisible(name).text)),
    el("p", { class: "outcome", "data-state": call.state }, outcome),
    el("p", {}, wordsOf(STATE_WORDS, call.state)),
    drawFacts(call),
    ...own.flatMap(drawGates),
    ...approvals.map(drawApproval),
    ...own.flatMap(({ input }) =>
      input ? [drawJson(say("Arguments, as people may see them"), input)] : [],
    ),
    ...own.flatMap(({ result }) =>
      result ? [drawJson(say("Result, as people may see it"), result)] : [],
    ),
    drawEntries(own),
  );
}

function drawFacts(call: TracedCall): HTMLElement {
  const { saga, undo, attempts, reserved, used, after } = call;
  const sources = after?.map((source) => ("tool" in source ? source.tool : source.kind));
  return drawPairs([
    ["Call", el("code", {}, call.invocationId)],
    ["Attempts", attempts > 1 ? String(attempts) : undefined],
    ["Next attempt", call.nextAttemptAt && formatTime(call.nextAttemptAt)],
    ["After text of", sources && [...new Set(sources)].join(", ")],
    ["Reserved", reserved && formatAmounts(reserved)],
    ["Used", used && formatAmounts(used)],
    [
      "A step of",
      saga && el("a", { href: `#${saga}`, "data-call": saga }, say("the saga {saga}", { saga })),
    ],
    ["Undo", undo?.runId ? linkRun(undo.runId) : undo?.status],
    [
      "Waits for an operator",
      call.awaitsOutcomeUntil && say("until {when}", { when: formatTime(call.awaitsOutcomeUntil) }),
    ],
    ["Outcome reported by", call.resolvedBy],
  ]);
}

/** The gates of the last attempt, in their order. */
function drawGates({ action, gates }: AuditEntry): readonly HTMLElement[] {
  if (action !== "call.ended" || !gates) return [];
  const words = formatGates(gates, sayWords);
  const refused = gates.refusedBy === undefined ? [] : [gates.refusedBy];
  const passed = gates.passed.map((gate) => el("li", {}, gate));
  const ended = refused.map((gate) => el("li", { class: "refused" }, toVisible(gate).text));
  return [
    el("h4", {}, say("Gates")),
    el("ol", { class: "gates" }, ...passed, ...ended),
    el("p", {}, toVisible(`${words.charAt(0).toUpperCase()}${words.slice(1)}.`).text),
  ];
}

function drawApproval(approval: TracedApproval): HTMLElement {
  const { approvalId, status, supersededBecause, changedTerms = [], votes } = approval;
  const why = supersededBecause ? ` ${wordsOf(SUPERSEDED_WORDS, supersededBecause)}` : "";
  const told = votes.map(({ approverId, roles, decision, consentId, at }) => {
    const as = roles.length > 0 ? ` (${roles.join(", ")})` : "";
    const by = consentId === undefined ? "" : say(", by an earlier consent");
    const words = `${approverId}${as}: ${wordsOf(VOTE_WORDS, decision)}${by}`;
    return el("li", {}, el("time", { datetime: at }, formatTime(at)), toVisible(words).text);
  });
  return el(
    "section",
    { class: "approval", "aria-label": `${say("Approval")} ${approvalId}` },
    el(
      "h4",
      {},
      el("a", { href: `/approvals#${encodeURIComponent(approvalId)}` }, say("Approval")),
    ),
    el("p", {}, `${wordsOf(STATUS_WORDS, status)}${why}`),
    drawPairs([
      ["Asked for", formatAsked(approval)],
      ["Asked", formatTime(approval.requestedAt)],
      ["Closed", approval.closedAt && formatTime(approval.closedAt)],
      ["Used", approval.consumedAt && formatTime(approval.consumedAt)],
      ["Policy", say("revision {revision}", { revision: approval.policy.revision })],
    ]),
    ...(told.length > 0 ? [el("ol", { class: "records" }, ...told)] : []),
    ...(changedTerms.length > 0 ? [drawTerms(changedTerms)] : []),
  );
}

function drawTerms(changes: NonNullable<TracedApproval["changedTerms"]>): HTMLElement {
  const head = [say("Term"), say("Before"), say("Now")].map((text) =>
    el("th", { scope: "col" }, text),
  );
  const rows = changes.map(({ term, before, after }) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, term),
      el("td", {}, toVisible(JSON.stringify(before)).text),
      el("td", {}, toVisible(JSON.stringify(after)).text),
    ),
  );
  const caption = el("caption", {}, say("Terms that changed since the approval before"));
  return el("table", {}, caption, el("tr", {}, ...head), ...rows);
}

function drawJson(title: string, value: JsonObject): HTMLElement {
  const text = toVisible(JSON.stringify(value)).text;
  return el("details", {}, el("summary", {}, title), el("pre", { tabindex: "0" }, text));
}
