import { say } from "../../texts/say.ts";
import type { ToolPart } from "../answer/answer.ts";
import { el, setText } from "../../dom.ts";

/** The id of a step's call is that of its saga, and such an ending; see docs/sagas.md. */
const STEP = /^(.+)~[su]\d+$/;

/** Returns the id of the saga whose step a call is; undefined for every other call. */
export function sagaIdOf(toolCallId: string): string | undefined {
  return STEP.exec(toolCallId)?.[1];
}

/** States of a step that a person has to see. */
const URGENT: ReadonlySet<ToolPart["state"]> = new Set([
  "awaiting_approval",
  "awaiting_operator",
  "failed",
]);

export interface SagaSteps {
  readonly root: HTMLElement;
  /** Adds the card of one step. */
  add(card: HTMLElement): void;
  /** Opens the steps for one that a person has to see. */
  update(step: ToolPart): void;
}

/** Creates the folded steps on the card of a saga. */
export function createSagaSteps(): SagaSteps {
  const summary = el("summary");
  const list = el("div", { class: "parts" });
  const root = el("details", { class: "steps" }, summary, list);
  return {
    root,
    add(card) {
      list.append(card);
      const count = list.childElementCount;
      setText(summary, count === 1 ? say("1 step") : say("{count} steps", { count }));
    },
    update({ state }) {
      if (URGENT.has(state)) root.open = true;
    },
  };
}
