import { say, type Text } from "../texts/say.ts";
import { el } from "../dom.ts";
import { RUN_STATES } from "./labels.ts";

/** What the list may be filtered by, as `GET /v1/runs` takes it. */
export interface RunFilters {
  readonly root: HTMLFormElement;
  /** Reads the query of the list. */
  read(): Readonly<Record<string, string>>;
}

/**
 * Creates the form of the filters. `onChange` is called for each change. The address keeps the
 * filters, so that a list can be sent on.
 */
export function createFilters(onChange: () => void): RunFilters {
  const status = createSelect("status", [["", "Every state"], ...Object.entries(RUN_STATES)]);
  const kind = createSelect("kind", [
    ["", "Chats and calls"],
    ["chat", "Chats"],
    ["call", "Direct calls"],
  ]);
  const actor = createSearch("actor", "user:ann");
  const assistant = createSearch("assistant", "default");
  const tool = createSearch("tool", "core__calculate");
  const controls = [status, kind, actor, assistant, tool];
  const from = el("input", { name: "from", type: "datetime-local" });
  const to = el("input", { name: "to", type: "datetime-local" });
  const kept = new URLSearchParams(location.search);
  for (const control of controls) control.value = kept.get(control.name) ?? "";
  for (const control of [from, to]) control.value = toLocal(kept.get(control.name));
  const labelled = [
    drawLabelled("State", status),
    drawLabelled("Kind", kind),
    drawLabelled("Started by", actor),
    drawLabelled("Assistant", assistant),
    drawLabelled("Tool", tool),
    drawLabelled("From", from),
    drawLabelled("Until", to),
  ];
  const root = el("form", { class: "filters", "aria-label": say("Filter the runs") }, ...labelled);
  const read = (): Readonly<Record<string, string>> => ({
    ...Object.fromEntries(
      controls
        .map(({ name, value }) => [name, value.trim()] as const)
        .filter(([, value]) => value !== ""),
    ),
    ...instantOf("from", from.value),
    ...instantOf("to", to.value),
  });
  const change = (): void => {
    const query = new URLSearchParams(read()).toString();
    history.replaceState(null, "", `${location.pathname}${query && `?${query}`}${location.hash}`);
    onChange();
  };
  root.addEventListener("change", change);
  root.addEventListener("submit", (event) => {
    event.preventDefault();
    change();
  });
  return { root, read };
}

/** The form takes a time of the place where the page is read. */
function toLocal(instant: string | null): string {
  const atMs = Date.parse(instant ?? "");
  if (!Number.isFinite(atMs)) return "";
  const offsetMs = new Date(atMs).getTimezoneOffset() * 60_000;
  return new Date(atMs - offsetMs).toISOString().slice(0, 16);
}

function createSelect(
  name: string,
  options: readonly (readonly [value: string, text: Text])[],
): HTMLSelectElement {
  const select = el("select", { name });
  for (const [value, text] of options) select.append(el("option", { value }, say(text)));
  return select;
}

function createSearch(name: string, placeholder: string): HTMLInputElement {
  return el("input", { name, type: "search", placeholder, spellcheck: "false" });
}

function drawLabelled(text: Text, control: HTMLElement): HTMLElement {
  return el("label", {}, el("span", {}, say(text)), control);
}

/** The reader writes a time of the place where the page is read. */
function instantOf(name: "from" | "to", value: string): Readonly<Record<string, string>> {
  const atMs = Date.parse(value);
  return Number.isFinite(atMs) ? { [name]: new Date(atMs).toISOString() } : {};
}
