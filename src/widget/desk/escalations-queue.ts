import { say, type Text } from "../texts/say.ts";
import { ESCALATION_REASONS, type EscalationReason } from "../../protocol/escalation/escalation.ts";
import type {
  EscalationAct,
  EscalationQuery,
  QueueApi,
  ShownEscalation,
} from "../approval/queue-api.ts";
import type { ApprovalFailure } from "../approval/api.ts";
import { el } from "../dom.ts";
import { createEntryCard, createKeyButton } from "./entry-card.ts";
import { formatTime } from "../texts/format-time.ts";
import type { Entry, OpenEntry, OpenPorts, QueueSpec } from "./queue-spec.ts";

const SHOWS: Readonly<Record<string, readonly [name: Text, query: EscalationQuery]>> = {
  unsettled: ["Not settled", {}],
  open: ["Nobody has it", { state: "open" }],
  taken: ["Somebody has it", { state: "taken" }],
  settled: ["Settled", { state: "settled" }],
};

/** What runs could not settle, and an operator settles here. */
export function escalationsQueue(api: QueueApi): QueueSpec<ShownEscalation> {
  return {
    name: "escalations",
    title: say("Escalations"),
    none: say("This list has no escalations."),
    shows: Object.entries(SHOWS).map(([show, [name]]) => [show, say(name)]),
    kinds: Object.entries(KINDS).map(([kind, name]) => [kind, say(name)] as const),
    keys: [say("take it, or release it"), say("settle it")],
    async read({ show, kind, ...query }) {
      const reason = REASONS.find((known) => known === kind);
      const asked = { ...SHOWS[show]?.[1], ...query, ...(reason && { reason }) };
      const page = await api.escalations(asked);
      if (!page.ok) return page;
      // What a report or a decision settles stands in the other lists until then.
      const items = page.value.items.filter(
        ({ reason, state }) => state === "settled" || ESCALATION_REASONS[reason] === "settle",
      );
      return { ok: true, value: { ...page.value, items } };
    },
    describe,
    open: (escalation, ports) => openEscalation(api, escalation, ports),
  };
}

function describe(one: ShownEscalation): Entry {
  const { id, reason, toolId = "unknown", toolTitle = toolId, requestedBy, takenBy } = one;
  const facts = [
    sayReason(KINDS, reason),
    requestedBy,
    takenBy && one.state === "taken" ? say("taken by {name}", { name: takenBy }) : undefined,
    say("since {when}", { when: formatTime(one.openedAt) }),
  ];
  return {
    id,
    name: toolTitle,
    kinds: [reason],
    facts: facts.filter((fact) => fact !== undefined),
    since: one.openedAt,
  };
}

function openEscalation(
  api: QueueApi,
  first: ShownEscalation,
  { onActed }: OpenPorts<ShownEscalation>,
): OpenEntry<ShownEscalation> {
  let known = first;
  let isWriting = false;
  const { toolId = "unknown", toolTitle = toolId, count, requestedBy, owner } = first;
  const holder = el("p", { class: "note" });
  const card = createEntryCard({
    title: toolTitle,
    facts: [
      ...(toolTitle === toolId ? [] : [toolId]),
      ...(requestedBy === undefined ? [] : [say("for {name}", { name: requestedBy })]),
      count === 1 ? say("1 call") : say("{count} calls", { count }),
      say("since {when}", { when: formatTime(first.openedAt) }),
      ...(owner === undefined ? [] : [say("owner {name}", { name: owner })]),
    ],
    body: [el("p", {}, sayReason(EXPLAINED, first.reason)), holder],
  });

  const act = async (what: EscalationAct): Promise<void> => {
    isWriting = false;
    const { takenBy } = known;
    const answer = await api.actOn(known.id, { ...(takenBy && { from: takenBy }), ...what });
    if (answer.ok) known = answer.value;
    draw();
    card.tell(answer.ok ? say(DONE[what.action]) : describeRefusal(answer.failure));
    onActed();
  };
  const button = (label: string, key: "a" | "r" | undefined, onClick: () => void) =>
    createKeyButton(label, { ...(key && { key }), onClick });
  const write = (): void => {
    isWriting = true;
    const note = el("input", {
      type: "text",
      maxlength: "1000",
      "aria-label": say("What was done?"),
    });
    note.placeholder = say("What was done?");
    const onClick = (): void => {
      const said = note.value.trim();
      void act({ action: "settle", ...(said !== "" && { note: said }) });
    };
    const confirm = createKeyButton(say("Confirm"), { className: "primary", onClick });
    const back = button(say("Back"), undefined, () => {
      isWriting = false;
      draw();
    });
    card.ask(say("Settle it? Nobody has to look any more."), note, confirm, back);
    note.focus();
  };
  const draw = (): void => {
    holder.textContent = formatHolder(known);
    if (known.state === "settled") return card.ask("");
    const settle = button(say("Settle"), "r", write);
    const take = button(say("I take it"), "a", () => void act({ action: "take" }));
    if (known.state === "open") return card.ask(say("Nobody works on it so far."), take, settle);
    const release = button(say("Release"), "a", () => void act({ action: "release" }));
    const over = button(say("I take it over"), undefined, () => void act({ action: "take" }));
    card.ask(say("{name} works on it.", { name: known.takenBy ?? "" }), release, over, settle);
  };
  draw();
  return {
    root: card.root,
    update(news) {
      const isSame = JSON.stringify(news) === JSON.stringify(known);
      if (isWriting || isSame || known.state === "settled") return;
      if (news) {
        const isTaken = news.takenBy !== undefined && news.takenBy !== known.takenBy;
        known = news;
        draw();
        if (isTaken) card.note(say("{name} has just taken it.", { name: news.takenBy ?? "" }));
      } else {
        card.ask("");
        card.note(say("Somebody else settled it. “Settled” shows who, and what was done."));
      }
    },
    // To settle asks by itself, and to take can be taken back.
    needsSecondPress: () => false,
  };
}

function formatHolder({ state, takenBy, settledBy, settledAs, settledAt, note }: ShownEscalation) {
  const said = note === undefined ? "" : `“${note}”`;
  if (state !== "settled") {
    const holder = takenBy === undefined ? "" : `${say("taken by {name}", { name: takenBy })}.`;
    return `${holder} ${said}`.trim();
  }
  const ended = say("Ended{by} as {what}{when}.", {
    by: settledBy === undefined ? "" : say(" by {name}", { name: settledBy }),
    what: sayReason(ENDINGS, settledAs ?? "settled").toLowerCase(),
    when: settledAt === undefined ? "" : `, ${formatTime(settledAt)}`,
  });
  return `${ended} ${said}`.trim();
}

/** How one was settled: by a report, by a decision, or here. */
const ENDINGS: Readonly<Record<string, Text>> = {
  committed: "Happened",
  not_committed: "Did not happen",
  reviewed: "Looked at",
  undone: "Undone",
  approved: "Approved",
  rejected: "Rejected",
  expired: "Expired",
  withdrawn: "Withdrawn",
  superseded: "Replaced",
  closed: "Closed",
  settled: "Settled",
};

const DONE: Readonly<Record<EscalationAct["action"], Text>> = {
  take: "It is yours.",
  release: "Nobody has it any more.",
  settle: "Settled.",
};

const REFUSED: Readonly<Record<string, Text>> = {
  escalation_held: "Somebody else has taken the escalation. Who has it is shown here in a moment.",
  escalation_settled: "Somebody else has settled the escalation.",
};

const REASONS = Object.keys(ESCALATION_REASONS) as EscalationReason[];

/** The reasons of what is settled in this list. */
const KINDS: Readonly<Record<string, Text>> = {
  verification_unknown: "verification unknown",
  broken_output: "broken output",
  compensation_failed: "compensation failed",
  high_risk_refusal: "high risk refusal",
  repeated_refusals: "repeated refusals",
  repairs_exhausted: "repairs exhausted",
};

/** What happened, in words. */
const EXPLAINED: Readonly<Record<string, Text>> = {
  unknown_outcome: "A call may have happened, and nobody knew.",
  undo_failed: "Undoing a call failed.",
  state_mismatch: "A write was completed, and its state was not the expected one.",
  budget_request: "A run waited for a higher limit.",
  verification_unknown: "The call was completed, and nobody could read the state after it.",
  broken_output: "The tool ran, and what it returned breaks its contract. Look at what it did.",
  compensation_failed: "The tool says that it could not take back what it did.",
  high_risk_refusal: "Rights or policy refused a call with high risk.",
  repeated_refusals: "Rights or policy refused many calls of one run.",
  repairs_exhausted: "A run went on without this tool: the model did not correct its calls.",
};

/** Says a reason in the words of a table. One that this page does not know is shown as it is. */
function sayReason(words: Readonly<Record<string, Text>>, reason: string): string {
  const known = Object.hasOwn(words, reason) ? words[reason] : undefined;
  return known === undefined ? reason.replaceAll("_", " ") : say(known);
}

function describeRefusal({ code, message }: ApprovalFailure): string {
  const known = Object.hasOwn(REFUSED, code) ? REFUSED[code] : undefined;
  return known === undefined ? message : say(known);
}
