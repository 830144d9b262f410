import { el, icon } from "../dom.ts";

export interface ComposerActions {
  /** Returns whether the message was accepted. The text stays in the field until then. */
  readonly onSend: (text: string) => Promise<boolean>;
  readonly onStop: () => void;
}

/** The message field with a Send button, and a Stop button during an answer. */
export class Composer {
  readonly root: HTMLElement;
  readonly #actions: ComposerActions;
  readonly #input = el("textarea", {
    id: "message",
    part: "field",
    rows: "1",
    placeholder: "Ask something…",
    enterkeyhint: "send",
    autocomplete: "off",
  });
  readonly #send = createIconButton("Send", "M10 16V4m-5 5l5-5 5 5");
  readonly #stop = createIconButton("Stop", "M6 6h8v8H6z");
  #isBusy = false;
  #isSending = false;

  constructor(actions: ComposerActions) {
    this.#actions = actions;
    this.#send.classList.add("primary");
    this.#stop.type = "button";
    this.#stop.hidden = true;
    const label = el("label", { for: "message", class: "sr" }, "Message");
    const root = el(
      "form",
      { class: "composer", part: "composer" },
      label,
      this.#input,
      this.#send,
      this.#stop,
    );
    this.root = root;
    root.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#submit();
      this.focus();
    });
    this.#input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
      event.preventDefault();
      root.requestSubmit();
    });
    this.#input.addEventListener("input", () => this.#draw());
    this.#stop.addEventListener("click", () => {
      actions.onStop();
      this.focus();
    });
  }

  focus(): void {
    this.#input.focus();
  }

  /** Puts a message that was not sent before what the reader typed meanwhile. */
  giveBack(message: string): void {
    const { value } = this.#input;
    this.#input.value = value.trim() === "" ? message : `${message}\n${value}`;
    this.#draw();
  }

  update(state: { readonly isBusy: boolean; readonly isStopping: boolean }): void {
    this.#isBusy = state.isBusy;
    this.#stop.hidden = !state.isBusy;
    this.#stop.disabled = state.isStopping;
    this.#draw();
  }

  #draw(): void {
    this.#send.hidden = this.#isBusy && this.#input.value.trim() === "";
    fit(this.#input);
  }

  async #submit(): Promise<void> {
    const written = this.#input.value;
    if (written.trim() === "" || this.#isSending) return;
    this.#isSending = true;
    const sent = this.#actions.onSend(written.trim());
    const isAccepted = await sent.finally(() => (this.#isSending = false));
    const { value } = this.#input;
    // Text that the reader typed in the meantime is the next message.
    if (isAccepted && value.startsWith(written)) this.#input.value = value.slice(written.length);
    this.#draw();
  }
}

function createIconButton(name: "Send" | "Stop", path: string): HTMLButtonElement {
  return el(
    "button",
    { class: name.toLowerCase(), part: "button", "aria-label": name },
    icon(path),
  );
}

/** Tells whether Enter picks a word of an input method. Safari reports it late, as key code 229. */
function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.which === 229;
}

/** Grows the field with its text where the browser does not support `field-sizing`. */
function fit(input: HTMLTextAreaElement): void {
  if (CSS.supports("field-sizing", "content")) return;
  input.style.height = "auto";
  input.style.height = `${input.scrollHeight}px`;
}
