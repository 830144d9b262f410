import { say } from "../../texts/say.ts";
import { createButton, el } from "../../dom.ts";

export interface EditFormPorts {
  readonly onSend: (text: string) => void;
  /** The reader keeps the question as it is. */
  readonly onClose: () => void;
}

/** Creates the form in which the reader edits a question. */
export function createEditForm(question: string, ports: EditFormPorts): HTMLFormElement {
  const input = el("textarea", { "aria-label": say("Edit your question"), rows: "2" });
  input.value = question;
  const cancel = createButton("", say("Cancel"));
  const note = el(
    "p",
    { class: "note" },
    say("The earlier question and its answer stay as a version."),
  );
  const actions = el(
    "div",
    { class: "row" },
    el("button", { class: "primary" }, say("Send")),
    cancel,
  );
  const form = el(
    "form",
    { class: "edit", "aria-label": say("Edit your question") },
    input,
    note,
    actions,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (text !== "") ports.onSend(text);
  });
  cancel.addEventListener("click", ports.onClose);
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    ports.onClose();
  });
  return form;
}
