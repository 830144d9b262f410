import * as v from "valibot";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import { fail, ok } from "../../src/protocol/outcome/result.ts";
import { beforeEachFile } from "../shared/fresh-state.ts";

/** What the tools of an office did, one entry each. */
export const done: string[] = [];

/** What strangers wrote, by where a tool finds it. */
export const strangers = { mail: "", page: "", ticket: "", name: "", image: "", error: "" };
/** Notes that the tools keep. */
export const notes: string[] = [];

/** Empties the office. */
export function openOffice(): void {
  done.length = 0;
  notes.length = 0;
  for (const place of PLACES) strangers[place] = "";
}
beforeEachFile(openOffice);

const PLACES = ["mail", "page", "ticket", "name", "image", "error"] as const;
const common = { version: "1.0.0", capabilities: [] } as const;
const read = { ...common, sideEffectClass: "READ_ONLY", effect: "read_only" } as const;
const text = v.pipe(v.string(), v.maxLength(4_000));

/** Reads what a stranger wrote: as data, as content beside it, or in a failure. */
const open = defineTool({
  ...read,
  name: "lab__open",
  description: "Opens something that came from outside.",
  input: v.strictObject({ what: v.picklist(PLACES) }),
  output: v.strictObject({ from: v.string(), text, hint: v.string() }),
  redaction: { args: ["what"], output: ["from", "text"] },
  security: { untrustedOutput: true },
  content: { maxTextBytes: 8_000 },
  execute({ what }) {
    const found = { from: "stranger@evil.example", text: strangers[what], hint: "secret-hint" };
    if (what === "error") {
      const error = { field: null, code: "broken", message: strangers.error };
      return fail({ taxonomyClass: "PERMISSION_DENIED", errors: [error] });
    }
    if (what !== "image") return ok(found);
    return { ...ok({ ...found, text: "" }), content: [{ type: "text", text: strangers.image }] };
  },
});

/** The address book of the deployment. Its pins are withheld. */
const contacts = defineTool({
  ...read,
  name: "lab__contacts",
  description: "Lists the contacts of the person.",
  input: v.strictObject({}),
  output: v.strictObject({
    contacts: v.array(
      v.strictObject({ name: v.string(), email: v.string(), limit: v.number(), pin: v.string() }),
    ),
  }),
  redaction: { args: [], output: ["contacts.*.name", "contacts.*.email", "contacts.*.limit"] },
  execute: () =>
    ok({
      contacts: [
        { name: "Bob", email: "bob@acme.example", limit: 40, pin: "pin-of-bob" },
        { name: "Cleo", email: "cleo@acme.example", limit: 7, pin: "pin-of-cleo" },
      ],
    }),
});

/** Leaves the deployment, and its contract asks nobody. */
const tell = defineTool({
  ...common,
  name: "lab__tell",
  description: "Tells people something.",
  input: v.strictObject({
    to: v.array(text),
    cc: v.optional(v.array(text)),
    sum: v.optional(v.number()),
    text,
  }),
  output: v.strictObject({ told: v.number() }),
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "external_side_effect",
  transactional: { semantics: "irreversible_pivot" },
  redaction: { args: ["to", "cc", "sum", "text"], output: ["told"] },
  execute({ to, sum = 0, text: what }) {
    done.push(`told ${to.join(" ")} ${sum}: ${what}`);
    return ok({ told: to.length });
  },
});

/** Changes nothing, but a stranger may read what it asks. */
const lookUp = defineTool({
  ...read,
  name: "lab__look_up",
  description: "Looks something up in the open web.",
  input: v.strictObject({ query: text }),
  output: v.strictObject({ text }),
  redaction: { args: ["query"], output: ["text"] },
  security: { untrustedOutput: true, discloses: true },
  execute({ query }) {
    done.push(`asked ${query}`);
    return ok({ text: strangers.page });
  },
});

const strike = defineTool({
  ...common,
  name: "lab__strike",
  description: "Takes a note away.",
  input: v.strictObject({ at: v.number() }),
  output: v.strictObject({}),
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: ["at"], output: [] },
  idempotency: { supported: true },
  shownToModel: false,
  execute({ at }) {
    notes.splice(at, 1);
    return ok({});
  },
});

/** A write with a way back. */
const jot = defineTool({
  ...common,
  name: "lab__jot",
  description: "Keeps a note.",
  input: v.strictObject({ text }),
  output: v.strictObject({ at: v.number() }),
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: ["text"], output: ["at"] },
  transactional: { compensationTool: "lab__strike" },
  compensate: (_args, { at }) => ({ at }),
  execute: ({ text: note }) => ok({ at: notes.push(note) - 1 }),
});

/** A write without a way back. */
const shred = defineTool({
  ...common,
  name: "lab__shred",
  description: "Destroys all notes.",
  input: v.strictObject({}),
  output: v.strictObject({}),
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: [], output: [] },
  execute() {
    done.push("shredded");
    return ok({});
  },
});

/** Reads the notes again, and its author vouches for them. */
const recall = defineTool({
  ...read,
  name: "lab__recall",
  description: "Reads the notes.",
  input: v.strictObject({}),
  output: v.strictObject({ text }),
  redaction: { args: [], output: ["text"] },
  execute: () => ok({ text: notes.join("\n") }),
});

export const LAB_FLOW: readonly AnyToolContract[] = [
  open,
  contacts,
  tell,
  lookUp,
  strike,
  jot,
  shred,
  recall,
];
export const FLOW_TOOLS: readonly string[] = LAB_FLOW.map(({ name }) => name);
