import type { JsonObject } from "../../../src/protocol/json/value.ts";
import { el } from "../../../src/widget/dom.ts";
import { drawButton, inWords } from "./draw.ts";
import { type Draft, loadDraft, saveDraft } from "./drafts.ts";
import { textOf } from "./read-json.ts";

/** One field that people edit. */
export interface EditField {
  readonly name: string;
  readonly label: string;
  readonly kind: "line" | "text" | "choice";
  /** Values of a choice. */
  readonly choices?: readonly string[];
  /** Unit: characters. */
  readonly most?: number;
  /** Says what is wrong with a text; undefined: nothing. */
  readonly check?: (text: string) => string | undefined;
}

export interface EditedRow {
  /** Names the row among what the reader typed and has not saved. */
  readonly id: string;
  /** The row as it is now; empty for a new one. */
  readonly row: JsonObject;
  readonly fields: readonly EditField[];
  /** What the button says. Default: Save. */
  readonly submit?: string;
  /** The form stands there also where nothing is typed, so only what is typed can be discarded. */
  readonly isStanding?: boolean;
  /** Writes the fields that differ; answers whether it did. */
  readonly save: (changed: Readonly<Record<string, string>>) => Promise<boolean>;
  /** Called after a save, and when the reader discards what they typed. */
  readonly close: () => void;
}

/**
 * Draws the fields of a row to edit. What the reader types is kept until they save or discard it:
 * over a refusal, a change by somebody else, another section, and a reload.
 */
export function drawEditForm({
  id,
  row,
  fields,
  submit = "Save",
  isStanding = false,
  save,
  close,
}: EditedRow) {
  let draft: Draft = loadDraft(id);
  const keep = (next: Draft): void => {
    draft = next;
    saveDraft(id, draft);
    discard.hidden = isStanding && Object.keys(draft).length === 0;
  };
  const drawn = fields.map((field) => ({
    field,
    ...drawField(`edit:${id}`, field, { row, draft: loadDraft(id) }),
  }));
  const form = el("form", { class: "edit", "aria-label": "Edit" });
  for (const { field, control, root } of drawn) {
    control.addEventListener("input", () =>
      keep(withTyped(draft, field.name, { row, text: control.value })),
    );
    form.append(root);
  }
  const end = (): void => {
    forgetTyped(id);
    keep({});
    for (const { field, control } of drawn) control.value = shownOf(field, row);
    close();
  };
  const findWrong = () =>
    drawn.filter(({ field, problem }) =>
      showProblem(field, draft[field.name]?.text ?? textOf(row, field.name), problem),
    );
  if (refused.has(id)) findWrong();
  const button = el("button", { class: "primary", "data-key": `save:${id}` }, submit);
  const discard = drawButton("Discard", async () => end());
  discard.hidden = isStanding && !hasDraft(id);
  form.append(el("div", { class: "actions" }, button, discard));
  const send = async (): Promise<void> => {
    const changed = changedIn(draft, row);
    refused.add(id);
    const wrong = findWrong();
    if (wrong[0]) return wrong[0].control.focus();
    button.disabled = true;
    const isSaved = Object.keys(changed).length === 0 || (await save(changed));
    button.disabled = false;
    if (isSaved) end();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send();
  });
  return form;
}

/** Forms that the reader sent and has not saved: they say what is wrong also when drawn again. */
const refused = new Set<string>();

/** Forgets what the reader typed about a row, and that it was refused. */
export function forgetTyped(id: string): void {
  refused.delete(id);
  saveDraft(id, {});
}

/** Tells whether the reader typed something about a row and has not saved it. */
export function hasDraft(id: string): boolean {
  return Object.keys(loadDraft(id)).length > 0;
}

interface Known {
  readonly row: JsonObject;
  readonly draft: Draft;
}

function drawField(idOfForm: string, field: EditField, { row, draft }: Known) {
  const { name, label, kind, choices = [] } = field;
  const id = `${idOfForm}:${name}`;
  const now = textOf(row, name);
  const typed = draft[name];
  const control = createControl(kind, choices);
  for (const [key, value] of Object.entries({ id, name, "data-key": id, "data-drafted": "" })) {
    control.setAttribute(key, value);
  }
  control.value = typed?.text ?? shownOf(field, row);
  const problem = el("p", { class: "notice", role: "alert" });
  const root = el("div", { class: "field" }, el("label", { for: id }, label), control, problem);
  if (typed && typed.base !== now && typed.text !== now) {
    const said = choices.length > 0 ? inWords(now) : now;
    const note = `Somebody changed this meanwhile. It says now: ${said || "nothing"}`;
    root.append(el("p", { class: "note meanwhile" }, note));
  }
  return { root, control, problem };
}

/** What a control shows where nothing is typed. A choice of a new row stands at its first value. */
function shownOf({ name, choices = [] }: EditField, row: JsonObject): string {
  return textOf(row, name) || (choices[0] ?? "");
}

function createControl(
  kind: EditField["kind"],
  choices: readonly string[],
): HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement {
  if (kind === "line") return el("input", { autocomplete: "off" });
  if (kind === "text") return el("textarea", { rows: "4" });
  return el("select", {}, ...choices.map((value) => el("option", { value }, inWords(value))));
}

function withTyped(
  draft: Draft,
  name: string,
  { row, text }: { readonly row: JsonObject; readonly text: string },
): Draft {
  const { [name]: typed, ...others } = draft;
  const now = textOf(row, name);
  return text === now ? others : { ...others, [name]: { base: typed?.base ?? now, text } };
}

/** What differs from the row as it is now. What somebody else changed meanwhile stays theirs. */
function changedIn(draft: Draft, row: JsonObject): Readonly<Record<string, string>> {
  const changed = Object.entries(draft).filter(([name, { text }]) => text !== textOf(row, name));
  return Object.fromEntries(changed.map(([name, { text }]) => [name, text]));
}

function showProblem(
  { most = Infinity, check }: EditField,
  text: string,
  place: HTMLElement,
): boolean {
  const count = text.length;
  const isLong = count > most;
  const says = isLong
    ? `At most ${most.toLocaleString()} characters. These are ${count.toLocaleString()}.`
    : check?.(text);
  place.textContent = says ?? "";
  return says !== undefined;
}
