import * as v from "valibot";
import { defineSaga } from "../../src/contracts/define/define-saga.ts";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import { ok } from "../../src/protocol/outcome/result.ts";
import { beforeEachFile } from "../shared/fresh-state.ts";
import { crashes } from "./lab-crashes.ts";

/** What was emptied: the name of a shelf, or `everything`. Also what was filled and sold. */
export const shelves: string[] = [];
beforeEachFile(() => void (shelves.length = 0));

const cycle: { self?: object } = {};
cycle.self = cycle;

/** What a careless author answers in place of `{ shelf: "A" }`. */
export const ANSWERS = {
  promise: () => Promise.resolve({ shelf: "A" }),
  map: () => new Map([["shelf", "A"]]),
  list: () => [{ shelf: "A" }],
  nothing: () => undefined,
  throws: () => {
    throw new Error("no answer");
  },
  getter: () => ({
    get shelf(): string {
      throw new Error("no shelf");
    },
  }),
  cycle: () => cycle,
  bigint: () => ({ shelf: 1n }),
  nan: () => ({ shelf: Number.NaN }),
  huge: () => ({ shelf: "x".repeat(1_000_000) }),
  proto: () => JSON.parse('{"__proto__":{"shelf":"A"}}') as unknown,
  unwritable: () => ({ toJSON: () => undefined }),
} as const;
const FAULTS = Object.keys(ANSWERS) as (keyof typeof ANSWERS)[];

const hidden = {
  version: "1.0.0",
  description: "Changes the shelves.",
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "state_change",
  capabilities: [],
  idempotency: { supported: true },
  shownToModel: false,
} as const;
const shelf = v.strictObject({ shelf: v.optional(v.pipe(v.string(), v.maxLength(10))) });
const done = v.strictObject({ done: v.string() });
const shows = { redaction: { args: ["shelf"], output: ["done"] } } as const;

/** Empties everything when no shelf is named. */
const emptyShelf = defineTool({
  ...hidden,
  ...shows,
  name: "lab__empty_shelf",
  transactional: { semantics: "irreversible_pivot" },
  input: shelf,
  output: done,
  execute({ shelf: name = "everything" }) {
    shelves.push(`emptied ${name}`);
    return ok({ done: name });
  },
});

const fillShelf = defineTool({
  ...hidden,
  ...shows,
  name: "lab__fill_shelf",
  input: v.strictObject({ ...shelf.entries, undoes: v.optional(v.picklist(FAULTS)) }),
  output: done,
  shownToModel: true,
  transactional: { compensationTool: "lab__empty_shelf" },
  compensate: ({ undoes, ...args }) => (undoes ? (ANSWERS[undoes]() as object) : args),
  execute({ shelf: name = "A" }) {
    shelves.push(`filled ${name}`);
    return ok({ done: name });
  },
});

/** Cannot be undone or repeated, and loses its object when it sells `crash`. */
const sellShelf = defineTool({
  ...hidden,
  ...shows,
  name: "lab__sell_shelf",
  input: shelf,
  output: done,
  idempotency: { supported: false },
  transactional: { semantics: "irreversible_pivot" },
  async execute({ shelf: name = "A" }, { runId }) {
    shelves.push(`sold ${name}`);
    if (name === "crash") {
      crashes.get(runId)?.();
      await new Promise(() => {});
    }
    return ok({ done: name });
  },
});

const saga = {
  version: "1.0.0",
  description: "Changes the shelves in steps.",
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "state_change",
  output: done,
} as const;

const sellFilled = defineSaga({
  ...saga,
  ...shows,
  name: "lab__sell_filled",
  input: shelf,
  steps: [
    { tool: fillShelf, arguments: (args) => args },
    { tool: sellShelf, arguments: (args) => args },
  ],
  result: (_args, results) => results.of(sellShelf),
});

const oddShelf = defineSaga({
  ...saga,
  name: "lab__odd_shelf",
  input: v.strictObject({
    asks: v.optional(v.picklist(FAULTS)),
    answers: v.optional(v.picklist(FAULTS)),
  }),
  redaction: { args: ["asks", "answers"], output: ["done"] },
  steps: [
    { tool: fillShelf, arguments: () => ({ shelf: "A" }) },
    {
      tool: sellShelf,
      arguments: ({ asks }) => (asks ? (ANSWERS[asks]() as object) : { shelf: "A" }),
    },
  ],
  result: ({ answers }) => (answers ? (ANSWERS[answers]() as never) : { done: "A" }),
});

export const SHELF_TOOLS: readonly string[] = [
  "lab__empty_shelf",
  "lab__fill_shelf",
  "lab__sell_shelf",
  "lab__sell_filled",
  "lab__odd_shelf",
];

/** Sagas and compensations of careless authors, and a pivot of which nobody knows. */
export const LAB_SAGA_FAULTS: readonly AnyToolContract[] = [
  emptyShelf,
  fillShelf,
  sellShelf,
  sellFilled,
  oddShelf,
];
