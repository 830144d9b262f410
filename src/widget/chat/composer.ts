import { say } from "../texts/say.ts";
import { el, icon } from "../dom.ts";
import type { AttachedFile, TakenFiles } from "./files/attached-file.ts";
import type { FileTray } from "./files/file-tray.ts";
import { loadFileTray } from "./files/load-file-tray.ts";

export interface ComposerActions {
  /** Returns whether the message was accepted. The text stays in the field until then. */
  readonly onSend: (text: string, files: readonly AttachedFile[]) => Promise<boolean>;
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
    placeholder: say("Ask something…"),
    enterkeyhint: "send",
    autocomplete: "off",
  });
  readonly #send = createIconButton("Send", "M10 16V4m-5 5l5-5 5 5");
  readonly #stop = createIconButton("Stop", "M6 6h8v8H6z");
  #tray: FileTray | undefined;
  #isBusy = false;
  #isSending = false;

  constructor(actions: ComposerActions) {
    this.#actions = actions;
    this.#send.classList.add("primary");
    this.#stop.type = "button";
    this.#stop.hidden = true;
    const label = el("label", { for: "message", class: "sr" }, say("Message"));
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

  /** Offers to attach files, where the model of the chat takes some. */
  async take(takes: TakenFiles): Promise<void> {
    if (this.#tray || !(takes.images || takes.documents)) return;
    const tray = await loadFileTray({ takes, onChange: () => this.#draw() });
    if (!tray || this.#tray) return;
    this.#tray = tray;
    this.#input.before(tray.button);
    this.root.prepend(tray.root);
    this.#input.addEventListener("paste", (event) => {
      const { files } = event.clipboardData ?? {};
      if (files && files.length > 0) tray.add(files);
    });
    this.#draw();
  }

  /** Attaches files that the reader drops onto an element. */
  acceptDrops(element: HTMLElement): void {
    const isWanted = ({ dataTransfer }: DragEvent): boolean =>
      this.#tray !== undefined && dataTransfer?.types.includes("Files") === true;
    element.addEventListener("dragover", (event) => {
      if (isWanted(event)) event.preventDefault();
    });
    element.addEventListener("drop", (event) => {
      if (!isWanted(event)) return;
      event.preventDefault();
      this.#tray?.add(event.dataTransfer?.files ?? []);
      this.focus();
    });
  }

  /** Puts a message that was not sent before what the reader typed meanwhile. */
  giveBack(message: string, files: readonly AttachedFile[] = []): void {
    this.#tray?.put(files);
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
    const { files = [], isReading = false } = this.#tray ?? {};
    const isEmpty = this.#input.value.trim() === "" && files.length === 0;
    this.#send.hidden = this.#isBusy && isEmpty;
    // A steering message has no files: they wait for the next question.
    this.#send.disabled = isReading || (this.#isBusy && files.length > 0);
    this.root.classList.toggle("with-files", files.length > 0 || isReading);
    fit(this.#input);
  }

  async #submit(): Promise<void> {
    const written = this.#input.value;
    const files = this.#tray?.files ?? [];
    const isEmpty = written.trim() === "" && files.length === 0;
    if (isEmpty || this.#isSending || this.#send.disabled) return;
    this.#isSending = true;
    const sent = this.#actions.onSend(written.trim(), files);
    const isAccepted = await sent.finally(() => (this.#isSending = false));
    if (isAccepted && files.length > 0) this.#tray?.clear();
    const { value } = this.#input;
    // Text that the reader typed in the meantime is the next message.
    if (isAccepted && value.startsWith(written)) this.#input.value = value.slice(written.length);
    this.#draw();
  }
}

function createIconButton(name: "Send" | "Stop", path: string): HTMLButtonElement {
  return el(
    "button",
    { class: name.toLowerCase(), part: "button", "aria-label": say(name) },
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
