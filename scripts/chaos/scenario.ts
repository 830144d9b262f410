/** The classes of effect that recovery treats differently, each with a tool of its own. */
export const EFFECT_CLASSES = ["read_only", "idempotent", "reconciled", "unreconciled"] as const;
export type EffectClass = (typeof EFFECT_CLASSES)[number];

export const TOOL_OF: Readonly<Record<EffectClass, string>> = {
  read_only: "chaos__look",
  idempotent: "chaos__put",
  reconciled: "chaos__pay",
  unreconciled: "chaos__post",
};

/** What goes wrong at the first request for an operation; those after it find a sound server. */
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

/** What goes wrong with the first model call of a step; those after it find a sound provider. */
export const MODEL_FAULTS = ["error", "rate_limited", "disconnect", "slow"] as const;
export type ModelFault = (typeof MODEL_FAULTS)[number];

export interface ScriptedCall {
  readonly effectClass: EffectClass;
  /** Unique in its run: what may happen at most once, whatever keys it comes under. */
  readonly operation: number;
  readonly fault: EffectFault;
}

/** One model call: what it says, then what it asks for; without calls it is the last. */
export interface ScriptedStep {
  readonly text: readonly string[];
  /** Filler at the end of each piece of text. */
  readonly fillChars?: number;
  readonly calls: readonly ScriptedCall[];
  readonly fault?: ModelFault;
  /** Unit: milliseconds before each frame. */
  readonly paceMs?: number;
}

/** `durable`: right after the write that the storage has confirmed; `after`: it may be lost. */
export const CRASH_MODES = ["before", "after", "durable"] as const;
export type CrashMode = (typeof CRASH_MODES)[number];

/** The write point of one life, from 1, at which it ends. */
export interface Crash {
  readonly point: number;
  readonly mode: CrashMode;
}

/** The one user message of a run: tells the model server what to say and the object when to die. */
export interface ChaosScript {
  readonly id: string;
  readonly steps: readonly ScriptedStep[];
  /** One for each life, from the first; lives after these are left alone. */
  readonly crashes: readonly Crash[];
}

/** Reads a user message; undefined when it is no script. */
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

/** The pieces of text of a step, one delta each. */
export function piecesOf({ text, fillChars = 0 }: ScriptedStep): readonly string[] {
  const filler = "x".repeat(fillChars);
  return text.map((piece) => `${piece}${filler}`);
}

/** Everything that the model says in a run, had it one life only. */
export function textOf({ steps }: ChaosScript): string {
  return steps.flatMap(piecesOf).join("");
}
