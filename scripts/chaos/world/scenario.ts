import type { Repetition } from "../../../test/fakes/repeated-frames.ts";

/** Classes of effect whose runs need no approver. */
export const UNATTENDED_CLASSES = [
  "read_only",
  "idempotent",
  "reconciled",
  "unreconciled",
] as const;
/**
 * Classes of effect that recovery treats differently. Each has its own tool. `approved`: as
 * `unreconciled`, after a raise of the run's limit and two approvals. `asked`: likewise, after the
 * answer of the run's person, after their consent, or by a consent that lasts.
 */
export const EFFECT_CLASSES = [...UNATTENDED_CLASSES, "approved", "asked"] as const;
export type EffectClass = (typeof EFFECT_CLASSES)[number];

/** Tells whether people decide about the calls of a class. */
export function isAttended(effectClass: EffectClass): boolean {
  return effectClass === "approved" || effectClass === "asked";
}

/** Tells whether the tool of the class `asked` asks a question about an operation. */
export function hasQuestion(operation: number): boolean {
  return operation % 3 === 0;
}

/** How many later calls one consent of the class `asked` answers. */
export const LASTING_CALLS = 2;

export const TOOL_OF: Readonly<Record<EffectClass, string>> = {
  read_only: "chaos__look",
  idempotent: "chaos__put",
  reconciled: "chaos__pay",
  unreconciled: "chaos__post",
  approved: "chaos__send",
  asked: "chaos__tell",
};

/** A tool whose calls can be undone, and the tool that undoes them. */
export const UNDO_TOOLS = ["chaos__reserve", "chaos__release"] as const;

/** A saga, and its step that cannot be undone. Its other steps are UNDO_TOOLS. */
export const SAGA_TOOLS = ["chaos__journey", "chaos__settle"] as const;

/** The tools of GamePlan that a team works with, and the one that inspects what it left. */
export const TEAM_TOOLS = [
  "gameplan__create_project",
  "gameplan__create_game_system",
  "gameplan__update_game_system",
  "gameplan__delete_game_system",
  "gameplan__add_dependency",
  "gameplan__restore",
  "gameplan__discard",
  "gameplan__revert",
  "gameplan__empty_bin",
  "chaos__inspect",
] as const;

/** Fault of the first request of an operation. Later requests find a working server. */
export const EFFECT_FAULTS = [
  "none",
  "slow",
  "error_before",
  "error_after",
  "silent_before",
  "silent_after",
  "disconnect_after",
  "rate_limited",
] as const;
export type EffectFault = (typeof EFFECT_FAULTS)[number];

/** Fault of the first model call of a step. Later calls find a working provider. */
export const MODEL_FAULTS = ["error", "rate_limited", "disconnect", "slow"] as const;
/** `stall`: half the answer comes, and the rest never does. */
export type ModelFault = (typeof MODEL_FAULTS)[number] | "stall";

export interface ScriptedCall {
  readonly effectClass: EffectClass;
  /** Unique in its run. An operation may happen at most once, under any key. */
  readonly operation: number;
  readonly fault: EffectFault;
  /** The approvers reject the call. Matters for the class `approved` only. */
  readonly isRejected?: boolean;
}

/** One model call: its text, then its tool calls. A step without calls is the last. */
export interface ScriptedStep {
  readonly text: readonly string[];
  /** Filler at the end of each piece of text. */
  readonly fillChars?: number;
  readonly calls: readonly ScriptedCall[];
  /** How the provider repeats the calls. */
  readonly repeats?: Repetition;
  readonly fault?: ModelFault;
  /** Unit: milliseconds before each frame. */
  readonly paceMs?: number;
}

/** `durable`: after the storage confirmed the write; `after`: the write may be lost. */
export const CRASH_MODES = ["before", "after", "durable"] as const;
export type CrashMode = (typeof CRASH_MODES)[number];

/** The write point of one incarnation, from 1, at which the object crashes. */
export interface Crash {
  readonly point: number;
  readonly mode: CrashMode;
}

/**
 * The user message of a run: tells the model server what to answer, and the object when to crash.
 */
export interface ChaosScript {
  readonly id: string;
  /** Absent: the deployment's first. */
  readonly model?: string;
  readonly steps: readonly ScriptedStep[];
  /** One for each incarnation, from the first. Later incarnations do not crash. */
  readonly crashes: readonly Crash[];
}

/** Parses a user message. Undefined when the message is not a script. */
export function parseScript(text: string): ChaosScript | undefined {
  try {
    const parsed = JSON.parse(text) as Partial<ChaosScript>;
    return parsed.steps && parsed.crashes ? (parsed as ChaosScript) : undefined;
  } catch {
    return undefined;
  }
}

export function callsOf({ steps }: ChaosScript): readonly ScriptedCall[] {
  return steps.flatMap(({ calls }) => calls);
}

/** Returns the id that the model gives to a call of a step. */
export function toolCallIdOf(step: number, index: number): string {
  return `call_${step}_${index}`;
}

/** Returns the pieces of text of a step, one delta each. */
export function piecesOf({ text, fillChars = 0 }: ScriptedStep): readonly string[] {
  const filler = "x".repeat(fillChars);
  return text.map((piece) => `${piece}${filler}`);
}

/** Returns the whole text of a run that never crashes. */
export function textOf({ steps }: ChaosScript): string {
  return steps.flatMap(piecesOf).join("");
}
