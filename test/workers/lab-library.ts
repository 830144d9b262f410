import * as v from "valibot";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import { fail, ok } from "../../src/protocol/outcome/result.ts";
import type { FailureClass } from "../../src/protocol/outcome/taxonomy.ts";
import { holdUrl } from "../fakes/scripted-model.ts";
import { beforeEachFile } from "../shared/fresh-state.ts";

/** A library: which revision each book has, what happened, and what a return does wrong. */
export const library = {
  revisions: new Map<string, number>(),
  /** `lent <book>` and `returned <book>`, one entry for each effect. */
  happened: [] as string[],
  doneUnder: new Set<string>(),
  fault: undefined as FailureClass | "hold" | undefined,
};
beforeEachFile(() => {
  library.revisions.clear();
  library.happened.length = 0;
  library.doneUnder.clear();
  library.fault = undefined;
});

const book = v.pipe(v.string(), v.minLength(1), v.maxLength(100));
const input = v.strictObject({ book });
const given = v.strictObject({ book, revision: v.number() });

const shared = {
  version: "1.0.0",
  output: given,
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: ["book"], output: ["book", "revision"] },
  capabilities: [],
} as const;

function lend({ book: title }: { readonly book: string }) {
  const revision = (library.revisions.get(title) ?? 0) + 1;
  library.revisions.set(title, revision);
  library.happened.push(`lent ${title}`);
  return ok({ book: title, revision });
}

/** Takes a lending back, unless the book changed since, or a test wants a fault. */
async function takeBack(args: v.InferOutput<typeof given>, key: string) {
  const { book: title, revision } = args;
  if (library.doneUnder.has(key)) return ok(args);
  if (library.revisions.get(title) !== revision) return refuse("STALE_STATE");
  const { fault } = library;
  if (fault === "hold") await fetch(holdUrl(title));
  else if (fault) return refuse(fault);
  library.doneUnder.add(key);
  library.revisions.set(title, revision + 1);
  library.happened.push(`returned ${title}`);
  return ok(args);
}

function refuse(taxonomyClass: FailureClass) {
  const errors = [{ field: null, code: "refused", message: "the library refuses" }];
  return fail({ taxonomyClass, errors });
}

const returnBook = defineTool({
  ...shared,
  name: "lab__return_book",
  description: "Takes a book back.",
  input: given,
  idempotency: { supported: true },
  shownToModel: false,
  execute: (args, _context, { idempotencyKey }) => takeBack(args, idempotencyKey),
});

const lendBook = defineTool({
  ...shared,
  name: "lab__lend_book",
  description: "Lends a book.",
  input,
  transactional: { compensationTool: "lab__return_book" },
  compensate: (_args, output) => output,
  execute: lend,
});

const recallBook = defineTool({
  ...shared,
  name: "lab__recall_book",
  description: "Recalls a book. The person who asks has to agree.",
  input: given,
  sideEffectClass: "HIGH_RISK_EXTERNAL",
  effect: "external_side_effect",
  idempotency: { supported: true },
  shownToModel: false,
  redaction: { ...shared.redaction, state: ["revision"] },
  verification: {
    delaySeconds: 3_600,
    expect: ({ book: title, revision }) => ({
      reference: `books/${title}`,
      state: { revision: revision + 1 },
    }),
  },
  verify: ({ book: title }, { state }) =>
    Promise.resolve({
      kind: library.revisions.get(title) === state["revision"] ? "verified" : "mismatch",
    }),
  describe: ({ book: title }) => ({
    action: `Recall ${title}`,
    consequence: "The reader has to give the book back.",
  }),
  execute: (args, _context, { idempotencyKey }) => takeBack(args, idempotencyKey),
});

/** A write whose undo needs an approval. */
const shipBook = defineTool({
  ...shared,
  name: "lab__ship_book",
  description: "Ships a book to a reader.",
  input,
  transactional: { compensationTool: "lab__recall_book" },
  compensate: (_args, output) => output,
  execute: lend,
});

export const LAB_LIBRARY: readonly AnyToolContract[] = [lendBook, returnBook, shipBook, recallBook];
