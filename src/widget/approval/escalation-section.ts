import { createButton, el, setText } from "../dom.ts";
import type { QueueApi } from "./queue-api.ts";
import type { EscalationAction, EscalationInfo } from "./escalation-info.ts";

/**
 * Lists what runs could not settle themselves, and lets operators take and settle it.
 * Contract: hidden without an entry, and for a reader who may not see them. A refresh leaves an
 * entry alone in which somebody writes a note.
 */
export class EscalationSection {
  readonly root: HTMLElement;
  readonly #api: QueueApi;
  readonly #items = el("ul", { "aria-label": "Escalations" });
  readonly #notice = el("p", { class: "note", role: "status", tabindex: "-1" });
  /** By what it shows. */
  #shown = new Map<string, HTMLElement>();
  #requests = 0;
  /** The id of the entry that the address names, until it is shown. */
  #wanted = "";
  /** The id of the entry in which somebody writes a note. */
  #writing = "";

  constructor(api: QueueApi) {
    this.#api = api;
    this.root = el("section", { class: "outcomes", "aria-label": "Escalations", hidden: "" });
    this.root.append(el("h2", {}, "Escalations"), this.#items, this.#notice);
  }

  /** Moves the reader to an entry, now or once it is listed. */
  show(id: string): void {
    this.#wanted = id;
    const entry = this.root.querySelector<HTMLElement>(`#${CSS.escape(id)}`);
    if (!entry) return;
    this.#wanted = "";
    entry.tabIndex = -1;
    entry.focus();
  }

  /** Reads the list again. */
  async refresh(): Promise<void> {
    const own = ++this.#requests;
    const answer = await this.#api.escalations();
    if (own !== this.#requests || this.#writing !== "") return;
    const all = (answer.ok ? answer.value : []).map((one) => [JSON.stringify(one), one] as const);
    const known = this.#shown;
    this.#shown = new Map(all.map(([key, one]) => [key, known.get(key) ?? this.#draw(one)]));
    const isSame = all.length === known.size && all.every(([key]) => known.has(key));
    // A node that is moved loses the focus.
    if (!isSame) this.#items.replaceChildren(...this.#shown.values());
    this.root.hidden = all.length === 0 && this.#notice.textContent === "";
    if (this.#wanted !== "") this.show(this.#wanted);
  }

  #draw(one: EscalationInfo): HTMLElement {
    const isTaken = one.takenBy !== undefined;
    const take = createButton("", isTaken ? "Release" : "I take it");
    take.addEventListener("click", () => void this.#act(one, isTaken ? "release" : "take"));
    const settle = createButton("", "Settle");
    const choices = el("div", { class: "row" }, take, settle);
    const note = el("input", { type: "text", maxlength: "1000", "aria-label": "What was done?" });
    const confirm = createButton("primary", "Confirm");
    const back = createButton("", "Back");
    const sure = el("div", { class: "row", hidden: "" }, note, confirm, back);
    const write = (isWriting: boolean): void => {
      this.#writing = isWriting ? one.id : "";
      [choices.hidden, sure.hidden] = [isWriting, !isWriting];
      (isWriting ? note : settle).focus();
    };
    note.placeholder = "What was done?";
    settle.addEventListener("click", () => write(true));
    back.addEventListener("click", () => write(false));
    confirm.addEventListener("click", () => {
      this.#writing = "";
      void this.#act(one, "settle", note.value.trim());
    });
    const said = el("p", { class: "sentence" }, EXPLAINED[one.reason] ?? one.reason);
    const name = el("bdi", { class: "name" }, one.toolId);
    return el("li", { id: one.id }, name, describe(one), said, ...drawNote(one), choices, sure);
  }

  async #act(one: EscalationInfo, action: EscalationAction, note = ""): Promise<void> {
    const from = one.takenBy;
    const answer = await this.#api.actOn(one.id, {
      action,
      ...(from !== undefined && { from }),
      ...(note !== "" && { note }),
    });
    setText(this.#notice, answer.ok ? DONE[action] : answer.failure.message);
    await this.refresh();
    this.#notice.focus();
  }
}

const DONE: Readonly<Record<EscalationAction, string>> = {
  take: "It is yours.",
  release: "Nobody has it any more.",
  settle: "Settled.",
};

/** What happened, in words. A reason that this page does not know is shown as it is. */
const EXPLAINED: Readonly<Record<string, string>> = {
  verification_unknown: "The call was completed, and nobody could read the state after it.",
  broken_output: "The tool ran, and what it returned breaks its contract. Look at what it did.",
  compensation_failed: "The tool says that it could not take back what it did.",
  high_risk_refusal: "Rights or policy refused a call with high risk.",
  repeated_refusals: "Rights or policy refused many calls of one run.",
  repairs_exhausted: "A run went on without this tool: the model did not correct its calls.",
};

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

function describe(one: EscalationInfo): HTMLElement {
  const calls = one.count === 1 ? "1 call" : `${one.count} calls`;
  const since = Number.isFinite(one.openedAtMs) ? ` · since ${TIME.format(one.openedAtMs)}` : "";
  const facts = el("p", { class: "entry-facts" }, "for ", el("bdi", {}, one.requestedBy));
  facts.append(` · ${calls}${since} · owner `, el("bdi", {}, one.owner));
  if (one.takenBy !== undefined) facts.append(" · taken by ", el("bdi", {}, one.takenBy));
  return facts;
}

function drawNote({ note }: EscalationInfo): readonly HTMLElement[] {
  return note === undefined ? [] : [el("p", { class: "note" }, note)];
}
