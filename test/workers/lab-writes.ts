import * as v from "valibot";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import { fail, ok } from "../../src/protocol/outcome/result.ts";
import { holdUrl } from "../fakes/scripted-model.ts";
import { beforeEachFile } from "../shared/fresh-state.ts";

/** Effects of the writing tools, one entry each. */
export const written: string[] = [];
const seenKeys = new Set<string>();
beforeEachFile(() => {
  written.length = 0;
  seenKeys.clear();
});

const input = v.strictObject({
  what: v.pipe(v.string(), v.maxLength(100)),
  /** Behaviour after the effect. By default the tool answers. */
  afterwards: v.optional(v.picklist(["break", "hold"])),
});
type Args = v.InferOutput<typeof input>;

/** Makes an effect, then answers, throws or holds as told. A test releases a hold by its `what`. */
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

/** A write without `reconcile`: its outcome stays unknown. */
const pay = defineTool({
  ...common,
  name: "lab__pay",
  description: "Pays somebody.",
  execute: (args) => write(args, "pay"),
});

/** A write with `reconcile`. */
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

/** A write that may be repeated under its key. */
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

/** The service of `lab__store`. It makes one effect of all requests under one key. */
export const storeService = { isDown: false, requests: [] as string[], effects: new Set<string>() };
beforeEachFile(() => {
  storeService.isDown = false;
  storeService.requests.length = 0;
  storeService.effects.clear();
});

/** A write that may be repeated under its key for ten minutes while its service is down. */
const storeDocument = defineTool({
  ...common,
  name: "lab__store",
  description: "Stores a document.",
  idempotency: { supported: true },
  runtime: { retryForMs: 600_000 },
  parallel: false,
  async execute({ what, afterwards }, _context, { idempotencyKey }) {
    storeService.requests.push(idempotencyKey);
    if (!storeService.isDown || afterwards === "break") storeService.effects.add(idempotencyKey);
    if (!storeService.isDown) return ok({ done: what });
    const errors = [{ field: null, code: "down", message: "the service is down" }];
    // So long that no alarm of a test rings by itself.
    return fail({ taxonomyClass: "DEPENDENCY_UNAVAILABLE", errors, retryAfterMs: 300_000 });
  },
});

/** The tokens of `lab__send_abroad`, one for each request that reached its service. */
export const sentWith: string[] = [];
beforeEachFile(() => {
  sentWith.length = 0;
});

/** A write under credentials that may be repeated, while its service is down. */
const sendAbroad = defineTool({
  ...common,
  name: "lab__send_abroad",
  description: "Sends a document to a service abroad.",
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "external_side_effect",
  transactional: { semantics: "irreversible_pivot" },
  idempotency: { supported: true },
  runtime: { retryForMs: 600_000 },
  parallel: false,
  capabilities: ["auth", "http"],
  requiresConnection: true,
  security: { egressPolicy: "allowlisted_domains", upstreams: ["shop"] },
  async reconcile(_args, _context, { auth }) {
    // The other account knows nothing of the call.
    return (await auth.getAccessToken()) === sentWith[0]
      ? { kind: "unknown" }
      : { kind: "not_committed" };
  },
  async execute({ what }, _context, { auth }) {
    sentWith.push(await auth.getAccessToken());
    if (!storeService.isDown) return ok({ done: what });
    const errors = [{ field: null, code: "down", message: "the service is down" }];
    return fail({ taxonomyClass: "DEPENDENCY_UNAVAILABLE", errors, retryAfterMs: 300_000 });
  },
});

/** A read that holds when it is told to. */
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

/** One tool for each kind of recovery after a crash. */
export const LAB_WRITES: readonly AnyToolContract[] = [
  pay,
  book,
  file,
  storeDocument,
  sendAbroad,
  watch,
];
