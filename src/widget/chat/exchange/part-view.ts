import { say } from "../../texts/say.ts";
import { el } from "../../dom.ts";
import type { AttachedFile } from "../files/attached-file.ts";
import { drawFileNames } from "../files/file-names.ts";
import type { Part } from "../answer/answer.ts";
import { createTextView } from "../../markdown/text-view.ts";
import { type CallPorts, ToolCallView } from "../tool-card/tool-card.ts";

export interface PartView {
  /** Undefined for a part that shows nothing. */
  readonly root?: HTMLElement;
  /** `isOver` tells that the run ended. */
  update(part: Part, isOver: boolean): void;
}

/** Creates the view of one part of an answer. */
export function createPartView(part: Part, ports: CallPorts): PartView {
  switch (part.kind) {
    case "text":
      return createTextPartView();
    case "reasoning":
      return createReasoningView();
    case "tool": {
      const card = new ToolCallView(part, ports);
      const { root } = card;
      return { root, update: (next, isOver) => next.kind === "tool" && card.update(next, isOver) };
    }
    case "user":
      return { root: createBubble(part.text), update: () => undefined };
    case "note":
      return {
        root: el("p", { class: "note", role: "note" }, part.text),
        update: () => undefined,
      };
    case "withdrawn":
      return { update: () => undefined };
  }
}

function createTextPartView(): PartView {
  const text = createTextView();
  return {
    root: text.root,
    update(next) {
      if (next.kind === "text") text.update(next.text);
      // A withdrawn text is removed, because hidden text could still be found, copied or read out.
      else text.root.remove();
    },
  };
}

/** Shows a reasoning summary folded: it is no part of the answer. */
function createReasoningView(): PartView {
  const text = createTextView();
  const root = el(
    "details",
    { class: "reasoning" },
    el("summary", {}, say("Reasoning")),
    text.root,
  );
  return {
    root,
    update(next) {
      if (next.kind === "reasoning") text.update(next.text);
      else root.remove();
    },
  };
}

/** Creates the bubble of a message that the reader sent. */
export function createBubble(text: string, files: readonly AttachedFile[] = []): HTMLElement {
  const words = text === "" ? [] : [el("p", { dir: "auto" }, text)];
  return el(
    "article",
    { class: "question", part: "question", "aria-label": say("You") },
    ...words,
    ...drawFileNames(files),
  );
}
