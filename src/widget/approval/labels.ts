import type { SideEffectClass } from "../../protocol/tool/effect.ts";
import type { VisibleNote, VisibleNoteKind } from "../../protocol/text/visible-note.ts";
import type { ApprovalInfo } from "./info.ts";

/** What the page says about questions to people. */

const RISKS: { readonly [Class in SideEffectClass]: string } = {
  READ_ONLY: "Reads",
  EPHEMERAL_WRITE: "Passing change",
  LOW_RISK_INTERNAL: "Low risk",
  MEDIUM_RISK_WRITE: "Medium risk",
  HIGH_RISK_EXTERNAL: "High risk",
  CRITICAL_MUTATION: "Critical",
};

/** Names a risk class; one that is unknown stays as it is. */
export function formatRisk(riskClass: string): string {
  return Object.hasOwn(RISKS, riskClass) ? RISKS[riskClass as SideEffectClass] : riskClass;
}

const NOTES: { readonly [Kind in VisibleNoteKind]: string } = {
  hidden: "Characters that cannot be seen, or would mislead, are shown by their numbers",
  stacked_marks: "More marks on a letter than any writing needs",
  not_nfc: "Letters in an unusual form, which look like others",
  mixed_script: "A word mixes letters of several alphabets",
  host: "An address with letters beyond a to z",
  right_to_left: "Some of this reads from right to left",
};

/** Words a remark on a text, with the numbers of the characters. */
export function formatNote({ kind, codePoints }: VisibleNote): string {
  const words = Object.hasOwn(NOTES, kind) ? NOTES[kind] : "This may not be what it looks like";
  const points = Array.isArray(codePoints) ? codePoints.slice(0, 8).join(" ") : "";
  return kind === "hidden" || points === "" ? `${words}.` : `${words}: ${points}`;
}

/** Says who has to agree, and who has. */
export function formatDemand(approval: ApprovalInfo): string {
  const { required, approvals, roles, excludesRequester, requestedBy } = approval;
  const many = required === 1 ? "One person has" : `${required} people have`;
  const of = roles.length > 0 ? `, as ${roles.map((role) => role || "nobody").join(" or ")}` : "";
  const but = excludesRequester ? `, other than ${requestedBy}` : "";
  const so = required > 1 ? ` ${approvals} of ${required} so far.` : "";
  return `${many} to agree${of}${but}.${so}`;
}

/** Says how a question ended; empty while it is open. */
export function formatEnd({ status }: ApprovalInfo): string {
  switch (status) {
    case "pending":
      return "";
    case "approved":
      return "Approved. The call goes through every check again, and then runs once.";
    case "rejected":
      return "Rejected. The tool does not run.";
    case "expired":
      return "Nobody decided in time. The tool does not run.";
    case "superseded":
      return "The arguments were changed, so the question is asked anew.";
    case "withdrawn":
      return "The call is not wanted any more. The tool does not run.";
  }
}

const REFUSALS: Readonly<Record<string, string>> = {
  own_request: "You asked for this, so somebody else has to approve it.",
  not_the_requester: "Only the person on whose account this is done can approve it.",
  role_missing: "It takes a role that you do not have.",
  reason_missing: "It takes a reason.",
  not_a_person: "Only people decide, each for themselves.",
  not_bulk: "It is decided one by one.",
  insufficient_scope: "Your access does not include decisions.",
  closed: "",
};

/** Says why the reader may not decide; undefined for a code that is not known here. */
export function refusalOf(code: string): string | undefined {
  return Object.hasOwn(REFUSALS, code) ? REFUSALS[code] : undefined;
}

/** Says what the reader has said, or why they may not decide; empty where the buttons say it all. */
export function formatStanding({ mayDecide, mayNot, said }: ApprovalInfo): string {
  if (mayDecide === false) return formatRefusal(mayNot);
  return said === "approve" ? "You have agreed. Until it is decided you can still reject it." : "";
}

/** Whatever the code. */
function formatRefusal(code = ""): string {
  return (
    refusalOf(code) ??
    `You may not decide this${code === "" ? "" : ` (${code.replaceAll("_", " ")})`}.`
  );
}

/** Words how much time is left; empty when none is. */
export function formatTimeLeft(leftMs: number): string {
  if (!(leftMs > 0)) return "";
  const seconds = Math.ceil(leftMs / 1_000);
  if (seconds < 120) return `${seconds} seconds left`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes} minutes left`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} hours left` : `${Math.floor(hours / 24)} days left`;
}
