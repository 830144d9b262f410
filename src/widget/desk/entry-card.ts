import { el, setText } from "../dom.ts";

export interface EntryCardParts {
  readonly title: string;
  /** One line of facts, below the title. */
  readonly facts: readonly string[];
  /** What the reader has to know before they act. */
  readonly body: readonly HTMLElement[];
}

/**
 * Creates the card of an entry that is no approval. Its sentence and its buttons stay in sight
 * together, on a phone too.
 */
export function createEntryCard({ title, facts, body }: EntryCardParts) {
  const sentence = el("p", { class: "sentence" });
  const row = el("div", { class: "row" });
  const sign = el("div", { class: "sign" }, sentence, row);
  const decide = el("div", { class: "decide" }, sign);
  const outcome = el("p", { class: "outcome", role: "status", tabindex: "-1" });
  const told = facts.map((fact) => el("bdi", {}, fact));
  const root = el("article", { class: "approval", "aria-label": title, tabindex: "-1" });
  root.append(
    el("h3", { "aria-level": "2" }, el("bdi", {}, title)),
    el("p", { class: "entry-facts" }, ...told),
    ...body,
    decide,
    outcome,
  );
  return {
    root,
    /** Shows what is asked, and its buttons. */
    ask(text: string, ...controls: readonly HTMLElement[]): void {
      decide.hidden = controls.length === 0;
      setText(sentence, text);
      row.replaceChildren(...controls);
    },
    /** Tells what an action came to. */
    tell(text: string): void {
      setText(outcome, text);
      if (text !== "") outcome.focus();
    },
    /** Tells what others did, where the reader is. */
    note: (text: string): void => setText(outcome, text),
  };
}

/** Creates a button with a key. */
export function createKeyButton(
  label: string,
  { key, className = "", onClick }: KeyButton,
): HTMLButtonElement {
  const keyed = key === undefined ? {} : { "aria-keyshortcuts": key };
  const button = el("button", { type: "button", class: className, ...keyed }, label);
  button.addEventListener("click", onClick);
  return button;
}

interface KeyButton {
  readonly key?: "a" | "r";
  readonly className?: string;
  readonly onClick: () => void;
}
