import type { PacketLine } from "../../protocol/approval/packet-lines.ts";
import type { ConsentReach, LastingOffer } from "../../protocol/consent/lasting.ts";
import { el } from "../dom.ts";
import type { ApprovalDecision } from "./api.ts";
import type { ApprovalInfo } from "./info.ts";

const WITHIN: Readonly<Record<ConsentReach, string>> = {
  conversation: "in this conversation",
  assistant: "in all my conversations with this assistant",
};
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/**
 * Lets a person consent to later calls like this one, as far as the policy offers it. Contract:
 * each approval begins with one call alone; nothing of an earlier choice stays.
 */
export class LastingChoice {
  readonly root: HTMLElement;
  readonly #select: HTMLSelectElement;
  readonly #like = el("p", { class: "entry-facts" });
  #shown = "";

  constructor(id: string) {
    this.#select = el("select", { id });
    const label = el("label", { for: id }, "This approval counts for");
    this.root = el("div", { class: "field", hidden: "" }, label, this.#select, this.#like);
  }

  /** Offers what the approval offers; `isOpen` where the reader may take it. */
  update({ approvalId, lasting, lines }: ApprovalInfo, isOpen: boolean): void {
    this.root.hidden = !isOpen || !lasting;
    const next = JSON.stringify([approvalId, lasting]);
    if (!lasting || next === this.#shown) return;
    this.#shown = next;
    this.#select.replaceChildren(
      el("option", { value: "" }, "this call alone"),
      ...optionsOf(lasting),
    );
    this.#like.replaceChildren(el("bdi", {}, describeLike(lasting, lines)));
  }

  /** What the reader chose; nothing for one call alone. */
  read(): Pick<ApprovalDecision, "lasting"> {
    const within = this.root.hidden ? "" : this.#select.value;
    return within === "conversation" || within === "assistant" ? { lasting: { within } } : {};
  }
}

function optionsOf({ within: widest, maxCalls, maxSeconds }: LastingOffer): readonly HTMLElement[] {
  const until = DAY.format(Date.now() + maxSeconds * 1_000);
  const calls = maxCalls === 1 ? "one more call" : `${maxCalls} more calls`;
  const reaches: readonly ConsentReach[] =
    widest === "assistant" ? ["conversation", "assistant"] : ["conversation"];
  return reaches.map((within) =>
    el("option", { value: within }, `${calls} like it ${WITHIN[within]}, until ${until}`),
  );
}

/** Says what a later call must have in common with this one. */
function describeLike({ sameFields }: LastingOffer, lines: readonly PacketLine[]): string {
  if (!sameFields) return "Like it: the same tool with the same arguments.";
  if (sameFields.length === 0) return "Like it: the same tool, with any arguments.";
  const labels = sameFields.map(
    (pointer) => lines.find((line) => line.pointer === pointer)?.label ?? pointer,
  );
  return `Like it: the same tool with the same ${labels.join(", ")}. Other arguments may differ.`;
}
