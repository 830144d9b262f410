import type { TracedApproval, TracedCall, TracedStep } from "../../protocol/run/trace.ts";
import { NO_USAGE, addUsage } from "../../protocol/model/usage.ts";
import type { RunStatus } from "../../protocol/run/state.ts";
import { formatNumber, formatTime as formatInstant, say, type Text } from "../texts/say.ts";

/** Formats a time of the API for the place where the page is read. */
export function formatTime(at: string): string {
  const atMs = Date.parse(at);
  return Number.isNaN(atMs)
    ? at
    : formatInstant(atMs, { dateStyle: "medium", timeStyle: "medium" });
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

/** Formats a duration in its two largest units: `2 h 5 min`. */
export function formatDuration(ms: number): string {
  const at = UNITS.findIndex(([, unitMs]) => ms >= unitMs);
  const [unit, unitMs] = UNITS[at] ?? ["ms", 1];
  const rest = UNITS[at + 1];
  if (unitMs <= 1_000) return ms < 1_000 ? `${ms} ms` : `${formatNumber(ms / 1_000, 1)} s`;
  const whole = Math.floor(ms / unitMs);
  const part = rest ? Math.floor((ms % unitMs) / rest[1]) : 0;
  return `${whole} ${unit}${rest && part > 0 ? ` ${part} ${rest[0]}` : ""}`;
}

/** Formats the tokens of all steps, that of a run that waits in the middle of one too. */
export function formatTokens(steps: readonly TracedStep[]): string {
  const sum = steps.reduce((so, { usage = NO_USAGE }) => addUsage(so, usage), NO_USAGE);
  return say("{input} tokens in, {output} out", {
    input: formatNumber(sum.inputTokens),
    output: formatNumber(sum.outputTokens),
  });
}

const MILLIONTHS = 1_000_000;

/** Formats amounts of a budget, in the units of the policy: `1 critical, 0.25 cost`. */
export function formatAmounts(amounts: NonNullable<TracedCall["reserved"]>): string {
  const isMoney = (name: string): boolean => name === "financial" || name === "cost";
  return Object.entries(amounts)
    .map(
      ([name, amount]) =>
        `${formatNumber(isMoney(name) ? amount / MILLIONTHS : amount)} ` +
        (amount === 1 ? name.replace(/s$/, "") : name),
    )
    .join(", ");
}

/** Says what an approval asked for, and of whom. */
export function formatAsked({ requirements }: TracedApproval): string {
  return requirements
    .map(({ pattern, required, approvals, roles }) => {
      const from =
        roles.length > 0 ? say(" from role {roles}", { roles: roles.join(say(" or ")) }) : "";
      const many = required === 1 ? say("1 approval") : say("{required} approvals", { required });
      return `${pattern}: ${say("{approvals} of {many}", { approvals, many })}${from}`;
    })
    .join("; ");
}

/** Says how many calls there are. */
export function formatCalls(count: number): string {
  return count === 1 ? say("1 call") : say("{count} calls", { count });
}

type WordsOf<Name extends string> = Readonly<Record<Name, Text>>;

/** Says how a run stands. The type holds that each status has its words. */
export const RUN_STATES: WordsOf<RunStatus> = {
  running: "Running",
  waiting: "Waiting",
  completed: "Completed",
  cancelled: "Cancelled",
  failed: "Failed",
};

/** Says how somebody voted, likewise. */
export const VOTE_WORDS: WordsOf<TracedApproval["votes"][number]["decision"]> = {
  approve: "approved",
  reject: "rejected",
};

/** Says how an approval ended, likewise. */
export const STATUS_WORDS: WordsOf<TracedApproval["status"]> = {
  pending: "It waits for people.",
  approved: "Enough people approved.",
  answered: "The person answered.",
  rejected: "A person rejected it.",
  expired: "Too few people voted in time.",
  superseded: "Another approval took its place.",
  withdrawn: "The run did not want the call any more.",
};

/** Says why another approval took the place of one, likewise. */
export const SUPERSEDED_WORDS: WordsOf<NonNullable<TracedApproval["supersededBecause"]>> = {
  arguments_edited: "An approver edited the arguments.",
  terms_changed: "The policy came to other terms.",
  shown_changed: "What people saw did not hold any more.",
  consent_ended: "The consent that answered it was over.",
};

/** Says what is known about the effect of a call, likewise. */
export const STATE_WORDS: WordsOf<TracedCall["state"]> = {
  PENDING: "It is open.",
  COMPLETED: "The effect happened, once.",
  FAILED_RETRYABLE: "The effect did not happen.",
  FAILED_FINAL: "The effect did not happen.",
  EXPIRED: "The effect happened once, or not at all: nobody knows.",
  COMPENSATED: "The effect happened and was undone.",
};

/** Says the words of a name; the name itself when this version does not know it. */
export function wordsOf(words: Readonly<Record<string, Text>>, name: string): string {
  const text = Object.hasOwn(words, name) ? words[name] : undefined;
  return text === undefined ? name : say(text);
}
