import { el, icon } from "./dom.ts";

export interface Composer {
  readonly root: HTMLElement;
  focus(): void;
  update(state: { readonly isBusy: boolean; readonly isStopping: boolean }): void;
}

/** The message field with its button, which sends, or stops while an answer is on its way. */
export function createComposer(actions: {
  readonly onSend: (text: string) => boolean;
  readonly onStop: () => void;
}): Composer {
  const input = el("textarea", {
    id: "message",
    rows: "1",
    placeholder: "Ask something…",
    enterkeyhint: "send",
    autocomplete: "off",
  });
  const label = el("label", { for: "message", class: "sr" }, "Message");
  const send = el("button", { class: "send", "aria-label": "Send" }, icon("M10 16V4m-5 5l5-5 5 5"));
  const stop = el("button", { type: "button", class: "stop", "aria-label": "Stop", hidden: "" });
  stop.append(icon("M6 6h8v8H6z"));
  const root = el("form", { class: "composer" }, label, input, send, stop);

  root.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (text !== "" && actions.onSend(text)) {
      input.value = "";
      fit(input);
    }
    input.focus();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
    event.preventDefault();
    root.requestSubmit();
  });
  input.addEventListener("input", () => fit(input));
  stop.addEventListener("click", () => {
    actions.onStop();
    input.focus();
  });
  return {
    root,
    focus: () => input.focus(),
    update({ isBusy, isStopping }) {
      send.hidden = isBusy;
      stop.hidden = !isBusy;
      stop.disabled = isStopping;
    },
  };
}

/** An Enter that picks a word of an input method. Safari reports it after the composition, as code 229. */
function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.which === 229;
}

/** Grows the field with its text where `field-sizing` is not there to do it. */
function fit(input: HTMLTextAreaElement): void {
  if (CSS.supports("field-sizing", "content")) return;
  input.style.height = "auto";
  input.style.height = `${input.scrollHeight}px`;
}
