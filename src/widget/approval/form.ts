import { toEditableJson } from "../../protocol/text/hidden-characters.ts";
import { isJsonObject, type JsonObject } from "../../protocol/json/value.ts";
import type { ApprovalInfo } from "./info.ts";
import type { ApprovalFailure, Decision } from "./api.ts";
import { el, setText } from "../dom.ts";

/** How long buttons stay dead after what they decide about has appeared or changed. Unit: milliseconds. */
export const ARM_AFTER_MS = 1_000;

export interface ApprovalForm {
  readonly root: HTMLElement;
  /** Shows what may be decided, and how; `isNews` when it is not what was shown before. */
  update(
    approval: ApprovalInfo,
    state: { readonly isNews: boolean; readonly isSending: boolean },
  ): void;
  /** Says what was wrong with the last try, at its field. */
  refuse(failure: ApprovalFailure | undefined): void;
}

let forms = 0;

/**
 * Takes a person's decision. Threat: a click, or a key, that was meant for something else; so nothing here
 * takes the focus by itself, Enter decides nothing, and the buttons are dead for a second after each change.
 */
export function createApprovalForm(onDecide: (decision: Decision) => void): ApprovalForm {
  const id = `approval-${++forms}`;
  const reason = createField(`${id}-reason`, "Reason", el("input", { autocomplete: "off" }));
  const confirm = createField(
    `${id}-confirm`,
    "",
    el("input", { autocomplete: "off", spellcheck: "false" }),
  );
  const editor = createField(
    `${id}-edit`,
    "Arguments, as JSON; what is not shown stays as it was",
    el("textarea", { rows: "6", spellcheck: "false" }),
  );
  const approve = el("button", { type: "button", class: "primary" }, "Approve");
  const reject = el("button", { type: "button", class: "reject" }, "Reject");
  const edit = el("button", { type: "button" }, "Edit arguments");
  const row = el("div", { class: "row" }, approve, reject, edit);
  const root = el("div", { class: "decide" }, editor.root, reason.root, confirm.root, row);
  let approval: ApprovalInfo | undefined;
  let isSending = false;
  let isArmed = false;
  let isEditing = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function arm(): void {
    isArmed = false;
    clearTimeout(timer);
    timer = setTimeout(() => {
      isArmed = true;
      draw();
    }, ARM_AFTER_MS);
  }

  function draw(): void {
    if (!approval) return;
    const { mayDecide = false, said } = approval;
    // A word once given counts; whoever gave it may still ask for other arguments.
    const mayApprove = mayDecide && (said !== "approve" || isEditing);
    const isCritical = approval.riskClass === "CRITICAL_MUTATION" && mayApprove && !isEditing;
    const needsReason = approval.pattern === "compliance" && mayApprove;
    reason.name(needsReason ? "Reason (needed)" : "Reason (if you like)");
    confirm.root.hidden = !isCritical;
    confirm.name(`Type ${approval.toolId} to approve`);
    editor.root.hidden = !isEditing;
    // Whoever asked may take it back, whoever else has to approve it.
    edit.hidden = approval.editable === undefined || !mayDecide;
    approve.hidden = !mayApprove;
    setText(reject, mayDecide ? "Reject" : "Take it back");
    setText(edit, isEditing ? "Keep the arguments" : "Edit arguments");
    setText(approve, isEditing ? "Ask with these arguments" : "Approve");
    const isReady = isArmed && !isSending;
    const isSure = !isCritical || confirm.input.value === approval.toolId;
    approve.disabled = !isReady || !isSure || (needsReason && reason.input.value.trim() === "");
    reject.disabled = !isReady;
    edit.disabled = isSending;
  }

  function decide(decision: Decision["decision"]): void {
    const said = reason.input.value.trim();
    const args =
      decision === "approve" && isEditing ? readArguments(editor.input.value) : undefined;
    if (args === null) return editor.refuse(["This is no JSON object."]);
    editor.refuse([]);
    onDecide({ decision, ...(args && { arguments: args }), ...(said !== "" && { reason: said }) });
  }

  function toggleEditor(): void {
    isEditing = !isEditing;
    editor.refuse([]);
    editor.input.value = isEditing ? toEditableJson(approval?.editable) : "";
    arm();
    draw();
    (isEditing ? editor.input : edit).focus();
  }

  approve.addEventListener("click", () => decide("approve"));
  reject.addEventListener("click", () => decide("reject"));
  edit.addEventListener("click", toggleEditor);
  root.addEventListener("input", draw);
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && isEditing) toggleEditor();
  });
  return {
    root,
    update(next, state) {
      if (next.approvalId !== approval?.approvalId) {
        isEditing = false;
        confirm.input.value = "";
      }
      approval = next;
      isSending = state.isSending;
      if (state.isNews) arm();
      draw();
    },
    refuse(failure) {
      const errors = failure?.errors ?? [];
      const isOfReason = ({ pointer }: { pointer: string }): boolean => pointer === "/reason";
      reason.refuse(errors.filter(isOfReason).map(({ message }) => message));
      const others = errors.filter((error) => !isOfReason(error));
      editor.refuse(others.map(({ pointer, message }) => `${pointer || "/"}: ${message}`));
      if (failure) arm();
      draw();
    },
  };
}

/** Reads what was edited; null for what is no JSON object. */
function readArguments(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** A labelled field with a place for what is wrong with it. */
function createField<Input extends HTMLInputElement | HTMLTextAreaElement>(
  id: string,
  name: string,
  input: Input,
) {
  const label = el("label", { for: id }, name);
  const problem = el("ul", { id: `${id}-problem`, class: "error", role: "alert" });
  input.id = id;
  input.setAttribute("aria-describedby", problem.id);
  return {
    root: el("div", { class: "field" }, label, input, problem),
    input,
    name: (words: string): void => setText(label, words),
    refuse(messages: readonly string[]): void {
      problem.replaceChildren(...messages.map((message) => el("li", {}, message)));
      input.setAttribute("aria-invalid", String(messages.length > 0));
    },
  };
}
