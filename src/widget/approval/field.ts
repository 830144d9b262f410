import { el, setText } from "../dom.ts";

/** Creates a labelled field, with a list below it of what is wrong with its value. */
export function createField<Input extends HTMLInputElement | HTMLTextAreaElement>(
  id: string,
  input: Input,
) {
  const label = el("label", { for: id });
  const problem = el("ul", { id: `${id}-problem`, class: "error", role: "alert" });
  input.id = id;
  input.setAttribute("aria-describedby", problem.id);
  return {
    root: el("div", { class: "field" }, label, input, problem),
    input,
    setLabel: (text: string): void => setText(label, text),
    showErrors(messages: readonly string[]): void {
      problem.replaceChildren(...messages.map((message) => el("li", {}, message)));
      input.setAttribute("aria-invalid", String(messages.length > 0));
    },
  };
}
