import { el, icon } from "../dom.ts";

export interface Composer {
  readonly root: HTMLElement;
  focus(): void;
  update(state: { readonly isBusy: boolean; readonly isStopping: boolean }): void;
}

/**
 * The message field with its buttons: one sends, one stops while an answer is on its way. The text stays
 * until `onSend` says that it was taken.
 */
export function createComposer(actions: {
  readonly onSend: (text: string) => Promise<boolean>;
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
  let isBusy = false;
  let isSending = false;

  function redraw(): void {
    send.hidden = isBusy && input.value.trim() === "";
    fit(input);
  }

  async function submit(): Promise<void> {
    const written = input.value;
    if (written.trim() === "" || isSending) return;
    isSending = true;
    const isTaken = await actions.onSend(written.trim()).finally(() => (isSending = false));
    // What was written meanwhile is the next message.
    if (isTaken && input.value.startsWith(written)) input.value = input.value.slice(written.length);
    redraw();
  }

  root.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit();
    input.focus();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
    event.preventDefault();
    root.requestSubmit();
  });
  input.addEventListener("input", redraw);
  stop.addEventListener("click", () => {
    actions.onStop();
    input.focus();
  });
  return {
    root,
    focus: () => input.focus(),
    update(state) {
      isBusy = state.isBusy;
      stop.hidden = !isBusy;
      stop.disabled = state.isStopping;
      redraw();
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
