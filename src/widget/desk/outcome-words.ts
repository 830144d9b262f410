import { say, type Text } from "../texts/say.ts";
import type { ListedOutcome, ReportedOutcome } from "../approval/queue-api.ts";
import { formatTime } from "../texts/format-time.ts";

/** One report that an operator can make. */
export interface Choice {
  readonly outcome: ReportedOutcome;
  readonly label: Text;
  readonly question: Text;
}

const OF_CALL: readonly Choice[] = [
  {
    outcome: "committed",
    label: "It happened",
    question: "Report that it happened? The run continues without repeating the call.",
  },
  {
    outcome: "not_committed",
    label: "It did not happen",
    question: "Report that it did not happen? The model may ask for the call again.",
  },
];
const OF_UNDO: readonly Choice[] = [
  {
    outcome: "committed",
    label: "It is undone",
    question: "Report that the call is undone?",
  },
  {
    outcome: "not_committed",
    label: "It is not undone",
    question: "Report that nothing was undone? People may then undo the call again.",
  },
];
const OF_MISMATCH: readonly Choice[] = [
  {
    outcome: "reviewed",
    label: "I have looked",
    question: "Report that you have looked, and put the system right where it was wrong?",
  },
];

export function choicesOf({ undo, mismatch }: ListedOutcome): readonly Choice[] {
  if (mismatch) return OF_MISMATCH;
  return undo ? OF_UNDO : OF_CALL;
}

/** The sentence beside the choices. */
export function questionOf({ toolTitle, toolId, undo, mismatch }: ListedOutcome): string {
  const name = toolTitle ?? toolId;
  if (mismatch) return say("Is the system right that {name} wrote to?", { name });
  return undo
    ? say("Is the change of {name} undone?", { name })
    : say("Did this call of {name} happen?", { name });
}

/** Says what is known, what to look for, and until when. */
export function explain(call: ListedOutcome): string {
  const { dispatchedAt, undo, mismatch } = call;
  const until = formatTime(call.awaitsOutcomeUntil);
  const accepted = say(ACCEPTED, { until });
  if (undo?.saga) {
    const { toolId: saga, stays } = undo.saga;
    const names = stays.map((step) => step.toolId).join(", ");
    const others = names === "" ? "" : ` ${say("These steps stay too: {names}.", { names })}`;
    return `${say(SAGA, { saga })}${others} ${say(LOOK)} ${accepted}`;
  }
  if (undo) return `${say(UNDO_FAILED)} ${say(LOOK)} ${accepted}`;
  if (mismatch) return say(MISMATCH, { until });
  const asked =
    dispatchedAt === undefined
      ? say(UNKNOWN)
      : say(UNKNOWN_SINCE, { since: formatTime(dispatchedAt) });
  return `${asked} ${say(WITHOUT_REPORT, { until })}`;
}

const ACCEPTED = "A report is accepted until {until}.";
const SAGA = "This call is a step of {saga}, which failed. Undoing the step failed too.";
const UNDO_FAILED = "This call happened, and undoing it failed.";
const LOOK = "Look into the system that the tool writes to: is the change undone?";
const MISMATCH =
  "The call was completed. When the state was read again, it was not the expected one. Look into the system that the tool writes to. This entry stays until {until}.";
const UNKNOWN =
  "The tool was asked to act, and did not tell whether it did. Look into the system that the tool writes to: did a change with these arguments happen?";
const UNKNOWN_SINCE =
  "The tool was asked to act, and did not tell whether it did. Look into the system that the tool writes to: did a change with these arguments happen since {since}?";
const WITHOUT_REPORT = "Without a report until {until} the run ends as failed.";
