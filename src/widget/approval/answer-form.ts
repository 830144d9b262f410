import { say } from "../texts/say.ts";
import { choicesOf } from "../../protocol/approval/question-lines.ts";
import { fieldsOf } from "../../protocol/approval/question.ts";
import type { PacketLine } from "../../protocol/approval/packet-lines.ts";
import type { JsonObject, JsonValue } from "../../protocol/json/value.ts";
import { el } from "../dom.ts";
import type { ApprovalFailure } from "./api.ts";
import { createField } from "./field.ts";
import { formatNote } from "./note.ts";
import { drawText } from "./packet-view.ts";
import { sayHint } from "./packet-words.ts";
import type { ApprovalInfo } from "./info.ts";

/** One field of the form. */
interface AnswerField {
  readonly root: HTMLElement;
  /** The value; undefined while the field is empty. */
  read(): JsonValue | undefined;
  showErrors(messages: readonly string[]): void;
}

/**
 * The form of a question: a group of choices, or one input, for each field. Labels and choices are
 * the lines of the packet, whose hidden characters are visible.
 * Contract: the server checks the answer; the form only reads it.
 */
export class AnswerForm {
  readonly root = el("div", { class: "answer" });
  readonly #id: string;
  readonly #fields = new Map<string, AnswerField>();
  readonly #rest = el("ul", { class: "error", role: "alert" });
  #shown = "";

  constructor(id: string) {
    this.#id = id;
  }

  /** Shows the form of a question; an empty one without a question. */
  update({ question, lines }: ApprovalInfo): void {
    const next = JSON.stringify(question ?? null);
    if (this.#shown === next) return;
    this.#shown = next;
    this.#fields.clear();
    for (const [at, [name, schema]] of fieldsOf(question?.schema ?? {}).entries()) {
      const known = lines.filter(({ field }) => field === "question");
      this.#fields.set(name, createAnswerField({ id: `${this.#id}-${at}`, name, schema }, known));
    }
    this.root.replaceChildren(...[...this.#fields.values()].map(({ root }) => root), this.#rest);
  }

  /** Reads the answer. A field that is empty is left out. */
  read(): JsonObject {
    const values = [...this.#fields].flatMap(([name, field]) => {
      const value = field.read();
      return value === undefined ? [] : [[name, value] as const];
    });
    return Object.fromEntries(values);
  }

  /** Shows what is wrong with each field; undefined removes it. */
  showFailure(failure: ApprovalFailure | undefined): void {
    const errors = failure?.errors ?? [];
    for (const [name, field] of this.#fields) {
      const own = errors.filter(({ pointer }) => pointer === `/${name}`);
      field.showErrors(own.map(({ message }) => message));
    }
    const others = errors.filter(({ pointer }) => !this.#fields.has(pointer.slice(1)));
    this.#rest.replaceChildren(...others.map(({ message }) => el("li", {}, message)));
  }
}

/** A field of the form, and where it stands in the page. */
interface FieldPlace {
  readonly id: string;
  readonly name: string;
  readonly schema: JsonObject;
}

function createAnswerField(place: FieldPlace, lines: readonly PacketLine[]): AnswerField {
  const { name, schema } = place;
  const about = lines.find(({ pointer }) => pointer === `/${name}`);
  const choices = choicesOf(schema);
  return choices.length > 0
    ? createChoices(place, { choices, about, lines })
    : createInput(place, about);
}

function createInput({ id, schema }: FieldPlace, about: PacketLine | undefined): AnswerField {
  const { type, maxLength } = schema;
  const isNumber = type === "number" || type === "integer";
  const isLong = !isNumber && (typeof maxLength !== "number" || maxLength > 200);
  const input = isLong
    ? el("textarea", { rows: "3" })
    : el("input", { autocomplete: "off", ...(isNumber && { inputmode: "decimal" }) });
  const field = createField<HTMLInputElement | HTMLTextAreaElement>(id, input);
  field.setLabel(labelOf(about));
  return {
    root: field.root,
    read() {
      const text = isLong ? input.value : input.value.trim();
      if (text.trim() === "") return undefined;
      const number = Number(text);
      // Text in a field for numbers goes as it is: the server says what is wrong with it.
      return isNumber && Number.isFinite(number) ? number : text;
    },
    showErrors: (messages) => field.showErrors(messages),
  };
}

interface Offered {
  readonly choices: readonly JsonValue[];
  readonly about: PacketLine | undefined;
  readonly lines: readonly PacketLine[];
}

function createChoices({ id, name }: FieldPlace, { choices, about, lines }: Offered): AnswerField {
  const problem = el("ul", { id: `${id}-problem`, class: "error", role: "alert" });
  const inputs = choices.map((_, at) =>
    el("input", { type: "radio", name: id, id: `${id}-${at}`, value: String(at) }),
  );
  const rows = inputs.map((input, at) => {
    const shown = lines.find(({ pointer }) => pointer === `/${name}/${at}`);
    const label = el("label", { for: input.id }, ...drawText(nameOf(choices[at], shown?.text)));
    const notes = shown?.notes ?? [];
    return el("div", {}, input, label, ...notes.map((note) => el("small", {}, formatNote(note))));
  });
  const legend = el("legend", {}, ...drawText(labelOf(about)));
  const root = el("fieldset", { class: "field", "aria-describedby": problem.id }, legend);
  root.append(...rows, problem);
  return {
    root,
    read: () => choices[inputs.findIndex(({ checked }) => checked)],
    showErrors(messages) {
      problem.replaceChildren(...messages.map((message) => el("li", {}, message)));
      root.setAttribute("aria-invalid", String(messages.length > 0));
    },
  };
}

function labelOf({ label = "", text = "" }: Partial<PacketLine> = {}): string {
  return text === "" ? label : `${label} (${sayHint(text)})`;
}

function nameOf(choice: JsonValue | undefined, shown = ""): string {
  return typeof choice === "boolean" ? (choice ? say("Yes") : say("No")) : shown;
}
