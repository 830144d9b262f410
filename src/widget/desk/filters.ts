import { say, type Text } from "../texts/say.ts";
import { el } from "../dom.ts";
import type { Choice, Entry, QueueQuery, QueueSpec } from "./queue-spec.ts";

const HOUR_MS = 3_600_000;
const AGES: Readonly<Record<string, readonly [name: Text, olderThanMs: number]>> = {
  any: ["Any age", 0],
  hour: ["Older than an hour", HOUR_MS],
  day: ["Older than a day", 24 * HOUR_MS],
  week: ["Older than a week", 7 * 24 * HOUR_MS],
};

/** What a list shows: some filters are the server's, others hold for what the page has loaded. */
export interface Filters {
  readonly root: HTMLElement;
  /** Reads the filters of the server. */
  read(): Omit<QueueQuery, "limit" | "cursor">;
  /** Takes over the filters that the address has. */
  take(): void;
  /** Writes the filters into the address, so that a list can be sent on. */
  keep(): void;
  /** Tells whether an entry fits the filters of the page. */
  fits(entry: Entry): boolean;
  /** True for all that waits. */
  isDefault(): boolean;
  /** True while the filters of the page may hide loaded entries. */
  hides(): boolean;
  /** Moves the focus to the text that entries are searched for. */
  search(): void;
}

/** `onRead`: other entries are needed. `onNarrow`: other loaded entries are shown. */
export function createFilters(
  { shows, kinds }: Pick<QueueSpec<never>, "shows" | "kinds">,
  on: { readonly onRead: () => void; readonly onNarrow: () => void },
): Filters {
  const show = choose(say("Show"), shows);
  const kind = el("select", {}, el("option", { value: "" }, say("Every kind")));
  kind.append(...kinds.map(([value, name]) => el("option", { value }, name)));
  const tool = createInput("bank__transfer");
  const person = createInput("user:ann");
  const assistant = createInput("support");
  const age = choose(
    say("Age"),
    Object.entries(AGES).map(([value, [name]]) => [value, say(name)]),
  );
  const text = el("input", { type: "search", "aria-label": say("Search what is loaded") });
  text.placeholder = say("Search");
  const more = el("details", { class: "more-filters" }, el("summary", {}, say("More filters")));
  if (kinds.length > 0) more.append(label(say("Kind"), kind));
  more.append(label(say("Tool"), tool), label(say("Person"), person));
  more.append(label(say("Assistant"), assistant), label(say("Age"), age));
  const root = el("form", { class: "filters", role: "search" }, show, text, more);
  const sent = { kind, tool, person, assistant };
  const named = Object.entries({ show, search: text, ...sent, age });
  const keep = (): void => keepInAddress(named);
  root.addEventListener("input", keep);
  for (const field of [show, ...Object.values(sent)]) field.addEventListener("change", on.onRead);
  for (const field of [age, text]) field.addEventListener("input", on.onNarrow);
  root.addEventListener("submit", (event) => event.preventDefault());
  const olderThanMs = (): number => AGES[age.value]?.[1] ?? 0;
  const words = (): string => text.value.trim().toLowerCase();
  return {
    root,
    keep,
    take() {
      const query = new URLSearchParams(location.search);
      for (const [name, field] of named) setKnown(field, query.get(name) ?? "");
      more.open = [...Object.values(sent), age].some((field) => !isAtRest(field));
    },
    read: () => ({ show: show.value, ...filled(sent) }),
    // The server filters by the rest, but for the kind of some lists.
    fits: ({ name, facts, kinds: of, since }) =>
      (kind.value === "" || of.includes(kind.value)) &&
      [name, ...facts].join("\n").toLowerCase().includes(words()) &&
      !(Date.now() - Date.parse(since) < olderThanMs()),
    isDefault: () => [show, ...Object.values(sent)].every(isAtRest),
    hides: () => ![text, kind, age].every(isAtRest),
    search: () => text.focus(),
  };
}

type Field = HTMLInputElement | HTMLSelectElement;

/** The first choice stands for all. */
const isAtRest = (field: Field): boolean =>
  field instanceof HTMLSelectElement ? field.selectedIndex === 0 : field.value.trim() === "";

function keepInAddress(named: readonly (readonly [name: string, field: Field])[]): void {
  const address = new URL(location.href);
  for (const [name, field] of named) {
    if (isAtRest(field)) address.searchParams.delete(name);
    else address.searchParams.set(name, field.value.trim());
  }
  history.replaceState(history.state, "", address);
}

/** Sets a field to a value of the address, which may name a choice that the list has not. */
function setKnown(field: Field, value: string): void {
  field.value = value;
  if (field instanceof HTMLSelectElement && field.selectedIndex < 0) field.selectedIndex = 0;
}

/** The values of the fields that the reader filled. */
function filled(fields: Readonly<Record<string, Field>>): Readonly<Record<string, string>> {
  const values = Object.entries(fields).map(([name, { value }]) => [name, value.trim()] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== ""));
}

function createInput(placeholder: string): HTMLInputElement {
  return el("input", { type: "search", spellcheck: "false", placeholder });
}

function choose(name: string, options: readonly Choice[]): HTMLSelectElement {
  const drawn = options.map(([value, option]) => el("option", { value }, option));
  return el("select", { "aria-label": name }, ...drawn);
}

function label(text: string, control: HTMLElement): HTMLElement {
  return el("label", {}, el("span", {}, text), control);
}
