import { formatTime, say } from "../../texts/say.ts";
import type { ToolPart } from "../answer/answer.ts";

/** The states of a tool card, each with its label and the path of its icon. */
export const CARD_STATES = {
  requested: { label: "Requested", icon: "M10 4v6l4 2" },
  awaiting_approval: {
    label: "Waiting for approval",
    icon: "M10 3l6 2.5v4c0 4-2.5 6.5-6 7.5-3.5-1-6-3.5-6-7.5v-4z",
  },
  awaiting_answer: { label: "Waiting for an answer", icon: "M7 7.5a3 3 0 1 1 3 3.5v1.5m0 2.5v.5" },
  running: { label: "Running", icon: "M10 3a7 7 0 1 1-6.6 4.7" },
  awaiting_operator: { label: "Waiting for an operator", icon: "M6.5 5v10m7-10v10" },
  done: { label: "Done", icon: "M4.5 10.5l3.5 3.5 7.5-8" },
  failed: { label: "Failed", icon: "M5.5 5.5l9 9m0-9l-9 9" },
  unknown: { label: "Unknown outcome", icon: "M7 7.5a3 3 0 1 1 3 3.5v1.5m0 2.5v.5" },
  stopped: { label: "Stopped", icon: "M6 6h8v8H6z" },
} as const;

/** Returns the state that a card shows. After the run's end, a call without a result gets none. */
export function cardStateOf(
  { state, approval, outcome }: ToolPart,
  isOver: boolean,
): keyof typeof CARD_STATES {
  switch (state) {
    case "awaiting_approval":
      if (isOver) return "stopped";
      return approval?.asks === "answer" ? "awaiting_answer" : state;
    case "requested":
    case "running":
      return isOver ? "stopped" : state;
    case "awaiting_operator":
      return isOver ? "unknown" : state;
    case "failed":
      return outcome?.isUnknown ? "unknown" : state;
    case "done":
      return state;
  }
}

/** Explains an unknown outcome that an operator was asked about; empty in every other state. */
export function describeUnknownOutcome(
  { state, resolveUntilMs }: ToolPart,
  isOver: boolean,
): string {
  if (state !== "awaiting_operator") return "";
  const unknown = say("The outcome of this call is unknown: it may or may not have happened.");
  if (isOver) return unknown;
  const until =
    resolveUntilMs === undefined ? "" : say(" until {time}", { time: formatTime(resolveUntilMs) });
  return `${unknown} ${say("An operator can resolve it{until}. The answer continues after that.", { until })}`;
}
