/** Behaviour of the upstream. It travels as the model's name, which every contender passes on. */
export type Scenario =
  /** So many text deltas, as fast as the connection takes them, in writes of many deltas. */
  | { readonly type: "burst"; readonly deltas: number }
  /** The same, but each delta in an HTTP chunk of its own, which is what most readers then get. */
  | { readonly type: "single"; readonly deltas: number }
  /** One delta every 20 ms, each stamped with the time it was sent. */
  | { readonly type: "paced"; readonly deltas: number }
  /** A tool call for so many steps, then text. */
  | { readonly type: "chain"; readonly steps: number }
  /** The same with a tool that changes something. */
  | { readonly type: "writes"; readonly steps: number }
  /** One answer with so many calls of a tool that does not exist, then text. */
  | { readonly type: "refused"; readonly calls: number }
  /** A tool call with arguments of so many KiB in fragments of 16 characters, then text. */
  | { readonly type: "arguments"; readonly kib: number }
  /** Headers, then nothing until the caller leaves. */
  | { readonly type: "silent" };

/** Time between two deltas of a paced answer. */
export const PACE_MS = 20;

/** Every measured scenario. Interlock is configured with their model names. */
export const SCENARIOS = {
  firstByte: { type: "burst", deltas: 8 },
  burst: { type: "burst", deltas: 2_000 },
  single: { type: "single", deltas: 2_000 },
  singleShort: { type: "single", deltas: 20 },
  paced: { type: "paced", deltas: 150 },
  pacedShort: { type: "paced", deltas: 20 },
  oneStep: { type: "chain", steps: 1 },
  chain: { type: "chain", steps: 20 },
  arguments64: { type: "arguments", kib: 64 },
  arguments256: { type: "arguments", kib: 256 },
  writes: { type: "writes", steps: 20 },
  refused: { type: "refused", calls: 100 },
  silent: { type: "silent" },
} as const satisfies Record<string, Scenario>;

/** Formats a scenario as a model's name. */
export function modelOf(scenario: Scenario): string {
  switch (scenario.type) {
    case "burst":
    case "single":
    case "paced":
      return `${scenario.type}-${scenario.deltas}`;
    case "chain":
    case "writes":
      return `${scenario.type}-${scenario.steps}`;
    case "refused":
      return `refused-${scenario.calls}`;
    case "arguments":
      return `arguments-${scenario.kib}`;
    case "silent":
      return "silent-0";
  }
}

/** Parses a model's name. Fails: throws for a name of no scenario. */
export function scenarioOf(model: string): Scenario {
  const [type, count] = model.split("-");
  const size = Number(count);
  if (type === "burst" || type === "single" || type === "paced") return { type, deltas: size };
  if (type === "chain" || type === "writes") return { type, steps: size };
  if (type === "refused") return { type, calls: size };
  if (type === "arguments") return { type, kib: size };
  if (type === "silent") return { type };
  throw new Error(`no such scenario: ${model}`);
}
