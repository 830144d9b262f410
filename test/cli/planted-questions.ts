import * as v from "valibot";
import { defineOperation } from "../../src/contracts/define/define-workspace.ts";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import { expectAnswer } from "../../src/contracts/define/expect-answer.ts";
import { fail, ok } from "../../src/protocol/outcome/result.ts";

const id = v.pipe(v.string(), v.regex(/^[a-z]{1,9}$/));

const asking = {
  version: "1.0.0",
  description: "Closes a shelf.",
  input: v.strictObject({ id }),
  output: v.strictObject({ id: v.string() }),
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "state_change",
  transactional: { confirmationRequired: true, semantics: "irreversible_pivot" },
  redaction: { args: ["id"], output: ["id"] },
  describe: (args: { readonly id: string }) => ({
    action: `Close ${args.id}`,
    consequence: "Nobody can open it.",
  }),
} as const;

const shelf = { input: asking.input, output: asking.output } as const;
const findShelf = defineOperation({
  name: "find_shelf",
  kind: "read",
  ...shelf,
  run: (_sql, args) => ok(args),
});
const closeShelf = defineOperation({
  name: "close_shelf",
  kind: "write",
  ...shelf,
  run: (_sql, args) => ok(args),
});

const ofShelves = { ...asking, capabilities: ["workspace"], workspace: "shelves" } as const;

/** Tries its write before it asks. */
const rehearsing = defineTool<typeof asking.input, typeof asking.output, "workspace">({
  ...ofShelves,
  name: "sound__close-shelf",
  async checkState(args, _context, { workspace }) {
    const tried = await workspace.rehearse(closeShelf, args);
    return tried.ok ? ok(null) : tried;
  },
  execute: (args, _context, { workspace }) => workspace.call(closeShelf, args),
});

/** Looks only whether its shelf is there, and not whether it can be closed. */
const hasty = defineTool<typeof asking.input, typeof asking.output, "workspace">({
  ...ofShelves,
  name: "planted__vain",
  async checkState(args, _context, { workspace }) {
    const found = await workspace.call(findShelf, args);
    return found.ok ? ok(null) : found;
  },
  execute: (args, _context, { workspace }) => workspace.call(closeShelf, args),
});

const answered = v.object({ id: v.string() });

/** Reads what it is about only after the approval. */
const late = defineTool({
  ...asking,
  name: "planted__vain-http",
  effect: "external_side_effect",
  idempotency: { supported: true },
  capabilities: ["http"],
  security: { egressPolicy: "allowlisted_domains", upstreams: ["desk"] },
  async execute({ id: queue }, _context, { http }) {
    const path = ["queues", queue];
    const found = expectAnswer(await http.send({ method: "GET", upstream: "desk", path }), {
      status: 200,
      body: answered,
    });
    if (!found.ok) return found;
    const tickets = [...path, "tickets"];
    const sent = await http.send({ method: "POST", upstream: "desk", path: tickets, body: {} });
    return expectAnswer(sent, { status: 201, body: answered });
  },
});

/** Refuses a text that it knows before anybody is asked. */
const fussy = defineTool({
  ...asking,
  name: "planted__vain-rule",
  capabilities: [],
  errors: { no_shelf: "SEMANTIC_INVALIDITY" },
  examples: [{ description: "No shelf.", arguments: { id: "none" } }],
  execute: (args) =>
    args.id === "none"
      ? fail({
          taxonomyClass: "SEMANTIC_INVALIDITY",
          errors: [{ field: "/id", code: "no_shelf", message: "expected a shelf" }],
        })
      : ok(args),
});

/** Contracts that ask for approvals: the planted ones ask in vain. */
export const PLANTED_QUESTIONS = [rehearsing, hasty, late, fussy];
