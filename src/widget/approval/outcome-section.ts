import { el, setText } from "../dom.ts";
import type { ApprovalsApi } from "./api.ts";
import { ARM_AFTER_MS } from "./form.ts";
import type { OutcomeInfo, ReportedOutcome } from "./outcome-info.ts";
import { drawList } from "./packet-view.ts";

/**
 * Lists the calls whose outcome is unknown, and takes what an operator found out about each.
 * Contract: hidden without such a call, and for a reader who may not resolve one. A report takes
 * two clicks, and the second button becomes active after a second.
 */
export class OutcomeSection {
  readonly root: HTMLElement;
  readonly #api: ApprovalsApi;
  readonly #items = el("ul", { "aria-label": "Calls with an unknown outcome" });
  readonly #notice = el("p", { class: "note", role: "status" });
  /** By call, so that a refresh keeps the call that the reader is about to report. */
  #shown = new Map<string, HTMLElement>();
  readonly #reported = new Set<string>();
  #requests = 0;

  constructor(api: ApprovalsApi) {
    this.#api = api;
    const title = el("h2", {}, "Unknown outcomes");
    const label = { "aria-label": "Unknown outcomes" };
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
    const texts = call.isUndo ? OF_UNDO : OF_CALL;
    const explanation = el("p", {}, explain(call));
    const question = el("p", { class: "sentence" });
    const confirm = createButton("primary", "Confirm");
    const back = createButton("", "Back");
    const sure = el("div", { class: "row", hidden: "" }, confirm, back);
    const choices = el("div", { class: "row" });
    let reported: ReportedOutcome = "committed";
    const ask = (outcome: ReportedOutcome | undefined): void => {
      choices.hidden = outcome !== undefined;
      sure.hidden = outcome === undefined;
      setText(question, outcome === undefined ? "" : `${texts.questions[outcome]} ${FINAL}`);
      if (outcome === undefined) return;
      reported = outcome;
      confirm.disabled = true;
      setTimeout(() => (confirm.disabled = false), ARM_AFTER_MS);
      back.focus();
    };
    for (const outcome of ["committed", "not_committed"] as const) {
      const button = createButton("", texts.buttons[outcome]);
      button.addEventListener("click", () => ask(outcome));
      choices.append(button);
    }
    back.addEventListener("click", () => ask(undefined));
    confirm.addEventListener("click", () => {
      confirm.disabled = true;
      void this.#settle(call, reported).then((isSettled) => isSettled || ask(undefined));
    });
    const name = el("bdi", { class: "name" }, call.toolId);
    const times = call.attempts === 1 ? "1 attempt" : `${call.attempts} attempts`;
    const requester = el("bdi", {}, call.requestedBy);
    const facts = el("p", { class: "entry-facts" }, "for ", requester, ` · ${times}`);
    return el("li", {}, name, facts, drawList(call.lines), explanation, question, choices, sure);
  }

  async #settle(call: OutcomeInfo, outcome: ReportedOutcome): Promise<boolean> {
    const answer = await this.#api.settle(call, outcome);
    const thanks = call.isUndo ? REPORTED_UNDO : REPORTED;
    setText(this.#notice, answer.ok ? thanks : answer.failure.message);
    const isOver = answer.ok || answer.failure.code === "outcome_not_awaited";
    if (isOver) this.#reported.add(keyOf(call));
    void this.refresh();
    return isOver;
  }
}

/** What the page says about the two reports. */
interface ReportTexts {
  readonly buttons: { readonly [Outcome in ReportedOutcome]: string };
  readonly questions: { readonly [Outcome in ReportedOutcome]: string };
}

const OF_CALL: ReportTexts = {
  buttons: { committed: "It happened", not_committed: "It did not happen" },
  questions: {
    committed: "Report that it happened? The run continues without repeating the call.",
    not_committed: "Report that it did not happen? The model may ask for the call again.",
  },
};
const OF_UNDO: ReportTexts = {
  buttons: { committed: "It is undone", not_committed: "It is not undone" },
  questions: {
    committed: "Report that the call is undone?",
    not_committed: "Report that nothing was undone? People may then undo the call again.",
  },
};
const FINAL = "Nobody can change this report.";
const REPORTED = "Reported. The run continues.";
const REPORTED_UNDO = "Reported.";

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

function explain({ dispatchedAtMs, isUndo, untilMs }: OutcomeInfo): string {
  if (isUndo) {
    return (
      "This call happened, and undoing it failed. Look into the system that the tool writes to: is " +
      `the change undone? A report is accepted until ${TIME.format(untilMs)}.`
    );
  }
  const began = dispatchedAtMs === undefined ? "" : ` since ${TIME.format(dispatchedAtMs)}`;
  return (
    "The tool was asked to act, and did not tell whether it did. Look into the system that the " +
    `tool writes to: did a change with these arguments happen${began}? ` +
    `Without a report until ${TIME.format(untilMs)} the run ends as failed.`
  );
}

function createButton(className: string, label: string): HTMLButtonElement {
  return el("button", { type: "button", class: className }, label);
}

function keyOf({ runId, invocationId }: OutcomeInfo): string {
  return `${runId}/${invocationId}`;
}
