import { formatTime, say, type Text } from "../texts/say.ts";
import type { PacketLine } from "../../protocol/approval/packet-lines.ts";
import type { ConsentReach, LastingOffer } from "../../protocol/consent/lasting.ts";
import { el } from "../dom.ts";
import type { ApprovalDecision } from "./api.ts";
import type { ApprovalInfo } from "./info.ts";

const WITHIN: Readonly<Record<ConsentReach, Text>> = {
  conversation: "in this conversation",
  assistant: "in all my conversations with this assistant",
};

/**
 * Lets a person consent to later calls like this one, as far as the policy offers it. Each choice
 * stands whole beside its button, on a phone too. Contract: each approval begins with one call
 * alone; nothing of an earlier choice stays.
 */
export class LastingChoice {
  readonly root: HTMLElement;
  readonly #id: string;
  readonly #choices = el("fieldset", { class: "field" });
  #inputs: readonly HTMLInputElement[] = [];
  #shown = "";

  constructor(id: string) {
    this.#id = id;
    this.root = el("div", { class: "answer", hidden: "" }, this.#choices);
  }

  /** Offers what the approval offers; `isOpen` where the reader may take it. */
  update({ approvalId, lasting, lines }: ApprovalInfo, isOpen: boolean): void {
    this.root.hidden = !isOpen || !lasting;
    const next = JSON.stringify([approvalId, lasting]);
    if (!lasting || next === this.#shown) return;
    this.#shown = next;
    const choices = [["", say("this call alone")] as const, ...choicesOf(lasting)];
    this.#inputs = choices.map(([value], at) =>
      el("input", { type: "radio", name: this.#id, id: `${this.#id}-${at}`, value }),
    );
    if (this.#inputs[0]) this.#inputs[0].checked = true;
    const rows = this.#inputs.map((input, at) =>
      el("div", {}, input, el("label", { for: input.id }, choices[at]?.[1] ?? "")),
    );
    const like = say("A call like it is a call of the same tool {same}.", {
      same: describeSame(lasting, lines),
    });
    this.#choices.replaceChildren(
      el("legend", {}, say("This approval counts for")),
      ...rows,
      el("p", { class: "entry-facts" }, el("bdi", {}, like)),
    );
  }

  /** What the reader chose; nothing for one call alone. */
  read(): Pick<ApprovalDecision, "lasting"> {
    const chosen = this.root.hidden ? undefined : this.#inputs.find(({ checked }) => checked);
    const within = chosen?.value;
    return within === "conversation" || within === "assistant" ? { lasting: { within } } : {};
  }
}

function choicesOf({
  within: widest,
  maxCalls,
  maxSeconds,
}: LastingOffer): readonly (readonly [ConsentReach, string])[] {
  const until = formatTime(Date.now() + maxSeconds * 1_000);
  const calls =
    maxCalls === 1 ? say("one more call") : say("{calls} more calls", { calls: maxCalls });
  const reaches: readonly ConsentReach[] =
    widest === "assistant" ? ["conversation", "assistant"] : ["conversation"];
  return reaches.map((within) => [
    within,
    say("it and {calls} like it {within}, until {until}", {
      calls,
      within: say(WITHIN[within]),
      until,
    }),
  ]);
}

/** Says what a later call must have in common with the one that the person saw. */
export function describeSame(
  { sameFields }: { readonly sameFields?: readonly string[] },
  lines: readonly PacketLine[],
): string {
  if (!sameFields) return say("with the same arguments");
  if (sameFields.length === 0) return say("with any arguments");
  const labels = sameFields.map(
    (pointer) => lines.find((line) => line.pointer === pointer)?.label ?? pointer,
  );
  return say("with the same {fields}; other arguments may differ", { fields: labels.join(", ") });
}
