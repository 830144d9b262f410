import * as v from "valibot";
import { defineTool } from "../../src/contracts/define-tool.ts";
import type { AnyToolContract } from "../../src/contracts/definition.ts";
import { ok } from "../../src/protocol/outcome/result.ts";
import { holdUrl } from "../fakes/scripted-model.ts";

/** What the writing tools did: each entry is one effect on the world outside. */
export const written: string[] = [];
const seenKeys = new Set<string>();

const input = v.strictObject({
  what: v.pipe(v.string(), v.maxLength(100)),
  /** What happens once the effect is made: by default the tool answers. */
  afterwards: v.optional(v.picklist(["break", "hold"])),
});
type Args = v.InferOutput<typeof input>;

/**
 * Makes an effect, then does not answer when it is told so; a hold ends by its word, which is
 * `what`.
 */
async function write({ what, afterwards }: Args, label: string) {
  written.push(`${label}: ${what}`);
  if (afterwards === "break") throw new Error("the answer was lost");
  if (afterwards === "hold") await fetch(holdUrl(what));
  return ok({ done: what });
}

const common = {
  version: "1.0.0",
  input,
  output: v.strictObject({ done: v.string() }),
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: ["what"], output: ["done"] },
  capabilities: [],
  parallel: true,
} as const;

/** Nobody can find out whether it happened. */
const pay = defineTool({
  ...common,
  name: "lab__pay",
  description: "Pays somebody.",
  execute: (args) => write(args, "pay"),
});

/** Whether it happened can be looked up. */
const book = defineTool({
  ...common,
  name: "lab__book",
  description: "Books a room.",
  execute: (args) => write(args, "book"),
  reconcile: ({ what }) =>
    Promise.resolve(
      written.includes(`book: ${what}`)
        ? { kind: "committed", output: { done: what } }
        : { kind: "not_committed" },
    ),
});

/** May be asked again under its key. */
const file = defineTool({
  ...common,
  name: "lab__file",
  description: "Files a document.",
  idempotency: { supported: true },
  async execute(args, _context, { idempotencyKey }) {
    if (seenKeys.has(idempotencyKey)) return ok({ done: args.what });
    seenKeys.add(idempotencyKey);
    return write(args, "file");
  },
});

/** Reads, and takes its time when it is told so. */
const watch = defineTool({
  ...common,
  name: "lab__watch",
  description: "Watches something until it happens.",
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  async execute({ what, afterwards }) {
    if (afterwards === "hold") await fetch(holdUrl(what));
    return ok({ done: what });
  },
});

/** One tool for each answer to the question what follows of a crash. */
export const LAB_WRITES: readonly AnyToolContract[] = [pay, book, file, watch];
