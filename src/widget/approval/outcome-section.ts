import { createButton, el, setText } from "../dom.ts";
import type { QueueApi } from "./queue-api.ts";
import { ARM_AFTER_MS } from "./form.ts";
import type { OutcomeInfo, ReportedOutcome } from "./outcome-info.ts";
import { drawList } from "./packet-view.ts";

/**
 * Lists the calls whose outcome is unknown or whose state is not the expected one, and takes what
 * an operator found out about each.
 * Contract: hidden without such a call, and for a reader who may not resolve one. A report takes
 * two clicks, and the second button becomes active after a second.
 */
export class OutcomeSection {
  readonly root: HTMLElement;
  readonly #api: QueueApi;
  readonly #items = el("ul", { "aria-label": "Calls to look into" });
  readonly #notice = el("p", { class: "note", role: "status" });
  /** By call, so that a refresh keeps the call that the reader is about to report. */
  #shown = new Map<string, HTMLElement>();
  readonly #reported = new Set<string>();
  #requests = 0;

  constructor(api: QueueApi) {
    this.#api = api;
    const title = el("h2", {}, "Unknown outcomes and mismatches");
    const label = { "aria-label": "Unknown outcomes and mismatches" };
    this.root = el("section", { class: "outcomes", ...label, hidden: "" });
    this.root.append(title, this.#items, this.#notice);
  }

  /** Reads the list again. */
  async refresh(): Promise<void> {
    const own = ++this.#requests;
    const answer = await this.#api.outcomes();
    if (own !== this.#requests) return;
    // The list follows the run a little later.
    const calls = (answer.ok ? answer.value : []).filter(
      (call) => !this.#reported.has(keyOf(call)),
    );
    const known = this.#shown;
    this.#shown = new Map(
      calls.map((call) => [keyOf(call), known.get(keyOf(call)) ?? this.#drawCall(call)]),
    );
    const items = [...this.#shown.values()];
    const isSame = items.length === this.#items.childElementCount;
    // A node that is moved loses the focus.
    if (!isSame || items.some((item, at) => item !== this.#items.children[at])) {
      this.#items.replaceChildren(...items);
    }
    this.root.hidden = items.length === 0 && this.#notice.textContent === "";
  }

  #drawCall(call: OutcomeInfo): HTMLElement {
    const explanation = el("p", {}, explain(call));
    const question = el("p", { class: "sentence" });
    const confirm = createButton("primary", "Confirm");
    const back = createButton("", "Back");
    const sure = el("div", { class: "row", hidden: "" }, confirm, back);
    const choices = el("div", { class: "row" });
    let reported: ReportedOutcome = "committed";
    const ask = (choice: Choice | undefined): void => {
      choices.hidden = choice !== undefined;
      sure.hidden = choice === undefined;
      setText(question, choice === undefined ? "" : `${choice.question} ${FINAL}`);
      if (choice === undefined) return;
      reported = choice.outcome;
      confirm.disabled = true;
      setTimeout(() => (confirm.disabled = false), ARM_AFTER_MS);
      back.focus();
    };
    for (const choice of choicesOf(call)) {
      const button = createButton("", choice.label);
      button.addEventListener("click", () => ask(choice));
      choices.append(button);
    }
    back.addEventListener("click", () => ask(undefined));
    confirm.addEventListener("click", () => {
      confirm.disabled = true;
      void this.#resolve(call, reported).then((isSettled) => isSettled || ask(undefined));
    });
    const name = el("bdi", { class: "name" }, call.toolId);
    const times = call.attempts === 1 ? "1 attempt" : `${call.attempts} attempts`;
    const requester = el("bdi", {}, call.requestedBy);
    const owner = el("bdi", {}, call.owner);
    const facts = el(
      "p",
      { class: "entry-facts" },
      "for ",
      requester,
      ` · ${times} · owner `,
      owner,
    );
    const states = call.mismatch ? [drawList(call.mismatch.lines)] : [];
    const shown = [drawList(call.lines), ...states, explanation, question];
    return el("li", {}, name, facts, ...shown, choices, sure);
  }

  async #resolve(call: OutcomeInfo, outcome: ReportedOutcome): Promise<boolean> {
    const answer = await this.#api.resolve(call, outcome);
    const thanks = call.isUndo || call.mismatch ? "Reported." : REPORTED;
    setText(this.#notice, answer.ok ? thanks : answer.failure.message);
    const isOver = answer.ok || answer.failure.code === "outcome_not_awaited";
    if (isOver) this.#reported.add(keyOf(call));
    void this.refresh();
    return isOver;
  }
}

/** One report that an operator can make. */
interface Choice {
  readonly outcome: ReportedOutcome;
  readonly label: string;
  readonly question: string;
}

const OF_CALL: readonly Choice[] = [
  {
    outcome: "committed",
    label: "It happened",
    question: "Report that it happened? The run continues without repeating the call.",
  },
  {
    outcome: "not_committed",
    label: "It did not happen",
    question: "Report that it did not happen? The model may ask for the call again.",
  },
];
const OF_UNDO: readonly Choice[] = [
  {
    outcome: "committed",
    label: "It is undone",
    question: "Report that the call is undone?",
  },
  {
    outcome: "not_committed",
    label: "It is not undone",
    question: "Report that nothing was undone? People may then undo the call again.",
  },
];
const OF_MISMATCH: readonly Choice[] = [
  {
    outcome: "reviewed",
    label: "I have looked",
    question: "Report that you have looked, and put the system right where it was wrong?",
  },
];
const FINAL = "Nobody can change this report.";
const REPORTED = "Reported. The run continues.";

function choicesOf({ isUndo, mismatch }: OutcomeInfo): readonly Choice[] {
  if (mismatch) return OF_MISMATCH;
  return isUndo ? OF_UNDO : OF_CALL;
}

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

function explain({ dispatchedAtMs, isUndo, mismatch, saga, untilMs }: OutcomeInfo): string {
  if (saga) {
    const others =
      saga.stays.length === 0 ? "" : ` These steps stay too: ${saga.stays.join(", ")}.`;
    return (
      `This call is a step of ${saga.toolId}, which failed. Undoing the step failed too.${others} ` +
      "Look into the system that the tool writes to: is the change undone? " +
      `A report is accepted until ${TIME.format(untilMs)}.`
    );
  }
  if (isUndo) {
    return (
      "This call happened, and undoing it failed. Look into the system that the tool writes to: is " +
      `the change undone? A report is accepted until ${TIME.format(untilMs)}.`
    );
  }
  if (mismatch) {
    return (
      "The call was completed. When the state was read again, it was not the expected one. Look " +
      `into the system that the tool writes to. This entry stays until ${TIME.format(untilMs)}.`
    );
  }
  const began = dispatchedAtMs === undefined ? "" : ` since ${TIME.format(dispatchedAtMs)}`;
  return (
    "The tool was asked to act, and did not tell whether it did. Look into the system that the " +
    `tool writes to: did a change with these arguments happen${began}? ` +
    `Without a report until ${TIME.format(untilMs)} the run ends as failed.`
  );
}

/** Undoing a call may fail again after a report. That is another case, with a later deadline. */
function keyOf({ runId, invocationId, untilMs }: OutcomeInfo): string {
  return `${runId}/${invocationId}/${untilMs}`;
}
