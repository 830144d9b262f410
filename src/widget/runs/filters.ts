import { el } from "../dom.ts";

const STATES = ["running", "waiting", "completed", "cancelled", "failed"] as const;

/** What the list may be filtered by, as `GET /v1/runs` takes it. */
export interface RunFilters {
  readonly root: HTMLFormElement;
  /** Reads the query of the list. */
  read(): Readonly<Record<string, string>>;
}

/** Creates the form of the filters. `onChange` is called for each change. */
export function createFilters(onChange: () => void): RunFilters {
  const status = choose("State", [
    ["", "Every state"],
    ...STATES.map((one) => [one, one] as const),
  ]);
  const kind = choose("Kind", [
    ["", "Chats and calls"],
    ["chat", "Chats"],
    ["call", "Direct calls"],
  ]);
  const actor = el("input", { type: "search", placeholder: "user:ann", spellcheck: "false" });
  const from = el("input", { type: "datetime-local" });
  const to = el("input", { type: "datetime-local" });
  const labelled = [
    label("State", status),
    label("Kind", kind),
    label("Started by", actor),
    label("From", from),
    label("Until", to),
  ];
  const root = el("form", { class: "filters", "aria-label": "Filter the runs" }, ...labelled);
  root.addEventListener("change", onChange);
  root.addEventListener("submit", (event) => {
    event.preventDefault();
    onChange();
  });
  return {
    root,
    read: () => ({
      ...(status.value && { status: status.value }),
      ...(kind.value && { kind: kind.value }),
      ...(actor.value.trim() && { actor: actor.value.trim() }),
      ...instantOf("from", from.value),
      ...instantOf("to", to.value),
    }),
  };
}

function choose(
  name: string,
  options: readonly (readonly [value: string, text: string])[],
): HTMLSelectElement {
  const select = el("select", { name });
  for (const [value, text] of options) select.append(el("option", { value }, text));
  return select;
}

function label(text: string, control: HTMLElement): HTMLElement {
  return el("label", {}, el("span", {}, text), control);
}

/** The reader writes a time of the place where the page is read. */
function instantOf(name: "from" | "to", value: string): Readonly<Record<string, string>> {
  const atMs = Date.parse(value);
  return Number.isFinite(atMs) ? { [name]: new Date(atMs).toISOString() } : {};
}
