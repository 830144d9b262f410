import { say } from "../texts/say.ts";
import { toEditableJson } from "../../protocol/text/hidden-characters.ts";
import { asksAnswer } from "../../protocol/approval/question.ts";
import { isJsonObject, type JsonObject } from "../../protocol/json/value.ts";
import type { PacketLine } from "../../protocol/approval/packet-lines.ts";
import type { ApprovalInfo } from "./info.ts";
import type { ApprovalDecision, ApprovalFailure } from "./api.ts";
import { AnswerForm } from "./answer-form.ts";
import { createField } from "./field.ts";
import { LastingChoice } from "./lasting-choice.ts";
import { el, setText } from "../dom.ts";
import { drawText } from "./packet-view.ts";
import { sayText } from "./packet-words.ts";

/** How long buttons stay disabled after the approval appeared or changed. Unit: milliseconds. */
export const ARM_AFTER_MS = 1_000;

let forms = 0;

/**
 * Takes a person's decision. Threat: a click or a key that was meant for something else. So the
 * form never takes the focus by itself, Enter decides nothing, and each change disables the buttons
 * for a second.
 */
export class ApprovalForm {
  readonly root: HTMLElement;
  readonly #onDecide: (decision: ApprovalDecision) => void;
  readonly #parts = createParts(`approval-${++forms}`);
  readonly #answer = this.#parts.answer;
  #approval: ApprovalInfo | undefined;
  #isSending = false;
  #isArmed = false;
  #isEditing = false;
  #sentence = "";
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onDecide: (decision: ApprovalDecision) => void) {
    const { root, approve, reject, edit } = this.#parts;
    this.root = root;
    this.#onDecide = onDecide;
    approve.addEventListener("click", () =>
      this.#decide(this.#approval?.question ? "answer" : "approve"),
    );
    reject.addEventListener("click", () => this.#decide("reject"));
    edit.addEventListener("click", () => this.#toggleEditor());
    root.addEventListener("input", () => this.#draw());
    root.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.#isEditing) return;
      event.preventDefault();
      this.#toggleEditor();
    });
  }

  /** Shows what the reader can decide; `isNew` when it differs from what was shown before. */
  update(
    approval: ApprovalInfo,
    { isNew, isSending }: { readonly isNew: boolean; readonly isSending: boolean },
  ): void {
    if (approval.approvalId !== this.#approval?.approvalId) {
      this.#isEditing = false;
      this.#parts.confirm.input.value = "";
    }
    this.#approval = approval;
    this.#answer.update(approval);
    this.#isSending = isSending;
    if (isNew) this.#arm();
    this.#draw();
  }

  /** Shows the errors of the last decision at their fields; undefined removes them. */
  showFailure(failure: ApprovalFailure | undefined): void {
    const { reason, editor } = this.#parts;
    const errors = Map.groupBy(failure?.errors ?? [], ({ pointer }) => pointer === "/reason");
    reason.showErrors((errors.get(true) ?? []).map(({ message }) => message));
    this.#answer.showFailure(failure);
    editor.showErrors(
      (errors.get(false) ?? []).map(({ pointer, message }) =>
        pointer === "" ? message : `${this.#labelOf(pointer)}: ${message}`,
      ),
    );
    if (failure) this.#arm();
    this.#draw();
  }

  /** Returns the label under which the packet shows an argument. */
  #labelOf(pointer: string): string {
    const isShown = ({ field, ...line }: PacketLine): boolean =>
      line.pointer === pointer && (field === "arguments" || field === "withheld");
    return this.#approval?.lines.find(isShown)?.label ?? pointer;
  }

  #arm(): void {
    this.#isArmed = false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#isArmed = true;
      this.#draw();
    }, ARM_AFTER_MS);
  }

  #draw(): void {
    if (!this.#approval) return;
    const { toolId, riskClass, requirements, editable, mayDecide = false } = this.#approval;
    const { asks, said } = this.#approval;
    const { reason, confirm, editor, lasting, approve, reject, edit } = this.#parts;
    // A person votes once on the same arguments, but may still ask for other arguments.
    const mayApprove = mayDecide && (said !== "approve" || this.#isEditing);
    const isCritical = riskClass === "CRITICAL_MUTATION" && mayApprove && !this.#isEditing && !asks;
    const needsReason = mayApprove && requirements.every((rule) => rule.needsReason);
    const mayNeed = requirements.some((rule) => rule.needsReason);
    const when = mayNeed ? say("Reason (required from compliance)") : say("Reason (optional)");
    reason.setLabel(needsReason ? say("Reason (required)") : when);
    confirm.root.hidden = !isCritical;
    confirm.setLabel(say("Type {tool} to approve", { tool: toolId }));
    editor.root.hidden = !this.#isEditing;
    // The requester may cancel the request, but only others may approve it.
    edit.hidden = editable === undefined || !mayDecide || asks !== undefined;
    approve.hidden = !mayApprove;
    this.#answer.root.hidden = !mayApprove || !asksAnswer(asks);
    lasting.update(this.#approval, mayApprove && !this.#isEditing && asks === undefined);
    const refuse = asks === "answer" ? say("Decline") : say("Reject");
    setText(reject, mayDecide ? refuse : say("Cancel request"));
    setText(edit, this.#isEditing ? say("Discard changes") : say("Edit arguments"));
    const verb = asks ? say(ANSWER_LABELS[asks]) : say("Approve");
    setText(approve, this.#isEditing ? say("Submit changed arguments") : verb);
    this.#drawSentence(this.#approval);
    const isReady = this.#isArmed && !this.#isSending;
    const isSure = !isCritical || confirm.input.value === toolId;
    approve.disabled = !isReady || !isSure || (needsReason && reason.input.value.trim() === "");
    reject.disabled = !isReady;
    edit.disabled = this.#isSending;
  }

  /** Repeats beside the buttons what the call would do, so that nobody decides out of its sight. */
  #drawSentence({ asks, title, lines }: ApprovalInfo): void {
    const shown = asks === "answer" ? "question" : asks === "raise" ? asks : "consequence";
    const line = lines.find(({ field }) => field === shown);
    const text = line ? sayText(line) : "";
    const lead =
      asks === "answer" ? say("Your answer to:") : asks === "raise" ? say("Raise") : title;
    const parts = this.#isEditing ? [say("Other arguments for:"), title] : [lead, text];
    const next = parts.join("\n");
    if (this.#sentence === next) return;
    this.#sentence = next;
    const [first = "", second = ""] = parts.map((part) => el("bdi", {}, ...drawText(part)));
    this.#parts.sentence.replaceChildren(el("strong", {}, first), " ", second);
  }

  #decide(decision: ApprovalDecision["decision"]): void {
    const { reason, editor, lasting } = this.#parts;
    const text = reason.input.value.trim();
    const isEdit = decision === "approve" && this.#isEditing;
    const args = isEdit ? parseArguments(editor.input.value) : undefined;
    if (args === null)
      return editor.showErrors([say("This is not a JSON object. Correct the text.")]);
    editor.showErrors([]);
    this.#onDecide({
      decision,
      ...(args && { arguments: args }),
      ...(decision === "approve" && lasting.read()),
      ...(decision === "answer" && { answer: this.#answer.read() }),
      ...(text !== "" && { reason: text }),
    });
  }

  #toggleEditor(): void {
    const { editor, edit } = this.#parts;
    this.#isEditing = !this.#isEditing;
    editor.showErrors([]);
    editor.input.value = this.#isEditing ? toEditableJson(this.#approval?.editable) : "";
    this.#arm();
    this.#draw();
    (this.#isEditing ? editor.input : edit).focus();
  }
}

const ANSWER_LABELS = {
  answer: "Answer",
  answer_and_vote: "Answer and approve",
  raise: "Raise the limit",
} as const;

function createParts(id: string) {
  const text = { autocomplete: "off", spellcheck: "false" };
  const reason = createField(`${id}-reason`, el("input", { autocomplete: "off" }));
  const confirm = createField(`${id}-confirm`, el("input", text));
  const area = el("textarea", { rows: "6", spellcheck: "false" });
  const editor = createField(`${id}-edit`, area);
  editor.setLabel(say("Arguments as JSON. Hidden values stay as they are."));
  const approve = el("button", { type: "button", class: "primary" }, say("Approve"));
  const reject = el("button", { type: "button", class: "reject" }, say("Reject"));
  const edit = el("button", { type: "button" }, say("Edit arguments"));
  const sentence = el("p", { id: `${id}-sentence`, class: "sentence" });
  for (const button of [approve, reject]) button.setAttribute("aria-describedby", sentence.id);
  const row = el("div", { class: "row" }, approve, reject, edit);
  const sign = el("div", { class: "sign" }, sentence, row);
  const answer = new AnswerForm(`${id}-answer`);
  const lasting = new LastingChoice(`${id}-lasting`);
  const fields = [answer.root, editor.root, lasting.root, reason.root, confirm.root];
  const root = el("div", { class: "decide" }, ...fields, sign);
  return { root, answer, lasting, reason, confirm, editor, sentence, approve, reject, edit };
}

/** Parses edited arguments; null when the text is not a JSON object. */
function parseArguments(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
