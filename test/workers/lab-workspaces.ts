import * as v from "valibot";
import { defineSaga } from "../../src/contracts/define/define-saga.ts";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import {
  defineOperation,
  defineWorkspace,
  type WorkspaceCaller,
} from "../../src/contracts/define/define-workspace.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import { fail, ok } from "../../src/protocol/outcome/result.ts";
import { holdUrl } from "../fakes/scripted-model.ts";
import { beforeEachFile } from "../shared/fresh-state.ts";

/** Names of the operations that ran, also of those that were rolled back. */
export const ran: string[] = [];
/** The run, the conversation and the call of each of them. */
export const ranIn: Partial<WorkspaceCaller>[] = [];
beforeEachFile(() => void (ran.length = ranIn.length = 0));

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(100));
const idOnly = v.strictObject({ id: v.string() });
const itemRow = v.object({ id: v.string(), name: v.string(), author: v.string() });

/** How an operation misbehaves after it has changed something. */
const misbehaviour = v.picklist(["throw", "fail", "misfit", "long"]);

export const addItem = defineOperation({
  name: "add_item",
  kind: "write",
  input: v.strictObject({ name: text, how: v.optional(misbehaviour) }),
  output: idOnly,
  run(sql, { name, how }, { newId, authorId, announce, ...caller }) {
    ran.push(name);
    const { runId, conversationId, toolCallId } = caller;
    ranIn.push({ runId, conversationId, ...(toolCallId !== undefined && { toolCallId }) });
    const id = newId();
    sql.run("INSERT INTO items (id, name, author) VALUES (?, ?, ?)", id, name, authorId);
    announce({ entity: "item", id });
    if (how === "throw") throw new Error("the operation broke");
    if (how === "misfit") return ok({ id: 7 } as never);
    if (how === "long") return ok({ id: "x".repeat(300_000) });
    if (how === "fail") {
      const errors = [{ field: "/name", code: "taken", message: "expected a name that is free" }];
      return fail({ taxonomyClass: "SEMANTIC_INVALIDITY", errors });
    }
    return ok({ id });
  },
});

export const listItems = defineOperation({
  name: "list_items",
  kind: "read",
  input: v.strictObject({}),
  output: v.strictObject({ items: v.array(v.strictObject({ ...itemRow.entries })) }),
  run(sql, _args, { reads }) {
    const items = sql.rows(itemRow, "SELECT * FROM items ORDER BY rowid");
    for (const { id } of items) reads({ entity: "item", id });
    return ok({ items });
  },
});

/** A read that changes something behind the back of its types. */
const sneak = defineOperation({
  name: "sneak",
  kind: "read",
  input: v.strictObject({}),
  output: v.strictObject({ found: v.number() }),
  run(sql) {
    const added = "INSERT INTO items (id, name, author) VALUES ('s', 'sneaked', 'x') RETURNING *";
    return ok({ found: sql.rows(itemRow, added).length });
  },
});

/** The workspace of the laboratory. */
export const labWorkspace = defineWorkspace({
  name: "lab",
  migrations: [
    "CREATE TABLE items (id TEXT PRIMARY KEY, name TEXT NOT NULL, author TEXT NOT NULL)",
  ],
  operations: [addItem, listItems, sneak],
  exportPerson(sql, { personId, limit, after = "" }) {
    const page = "SELECT * FROM items WHERE author = ? AND id > ? ORDER BY id LIMIT ?";
    // Two pages, so that tests see how they follow each other.
    const rows = sql.rows(itemRow, page, personId, after, Math.min(limit, 2));
    const last = rows.at(-1);
    return { rows, ...(rows.length === 2 && last && { next: last.id }) };
  },
  erasePerson: (sql, { personId, limit }) =>
    sql.run(
      "DELETE FROM items WHERE id IN (SELECT id FROM items WHERE author = ? LIMIT ?)",
      personId,
      limit,
    ),
});

const common = {
  version: "1.0.0",
  capabilities: ["workspace"],
  workspace: "lab",
} as const;

const keepItem = defineTool({
  ...common,
  name: "lab__keep_item",
  description: "Keeps an item in the workspace.",
  input: v.strictObject({
    name: text,
    how: v.optional(misbehaviour),
    /** What the tool itself does after the write. A test releases a hold by the name. */
    afterwards: v.optional(v.picklist(["throw", "hold", "again"])),
  }),
  output: idOnly,
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: ["name"], output: ["id"] },
  async execute({ name, how, afterwards }, _context, { workspace }) {
    const kept = await workspace.call(addItem, { name, ...(how && { how }) });
    if (afterwards === "throw") throw new Error("the tool broke");
    if (afterwards === "hold") await fetch(holdUrl(name));
    return afterwards === "again" ? workspace.call(addItem, { name: `${name} again` }) : kept;
  },
});

/** Keeps an item, and reads afterwards whether the workspace has it. */
const keepChecked = defineTool({
  ...common,
  name: "lab__keep_checked",
  description: "Keeps an item in the workspace, and looks afterwards whether it is there.",
  input: v.strictObject({ name: text }),
  output: idOnly,
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: ["name"], output: ["id"], state: ["names"] },
  verification: {
    delaySeconds: 0,
    expect: ({ name }) => ({ reference: `items/${name}`, state: { names: [name] } }),
  },
  async verify({ name }, _expected, _context, { workspace }) {
    const listed = await workspace.call(listItems, {});
    if (!listed.ok) return { kind: "unknown" };
    const names = listed.value.items.map((item) => item.name);
    return names.includes(name) ? { kind: "verified" } : { kind: "mismatch", found: { names } };
  },
  execute: ({ name }, _context, { workspace }) => workspace.call(addItem, { name }),
});

const showItems = defineTool({
  ...common,
  name: "lab__show_items",
  description: "Shows the items of the workspace.",
  input: v.strictObject({ how: v.optional(v.picklist(["sneak", "write", "unknown", "args"])) }),
  output: listItems.output,
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: ["how"], output: ["items.*.id", "items.*.name", "items.*.author"] },
  async execute({ how }, _context, { workspace }) {
    if (how === "sneak") await workspace.call(sneak, {});
    if (how === "write") await workspace.call(addItem, { name: "written" });
    if (how === "unknown") return workspace.call({ ...listItems, name: "no_such" }, {});
    return workspace.call(listItems, (how === "args" ? { all: true } : {}) as object);
  },
});

/** A saga that people approve: they see what is kept now, and what will be. */
const keepAgreed = defineSaga({
  name: "lab__keep_agreed",
  version: "1.0.0",
  description: "Keeps an item in the workspace, after people have agreed.",
  input: v.strictObject({ name: text, how: v.optional(v.picklist(["write", "throw"])) }),
  output: idOnly,
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: ["name"], output: ["id"], state: ["items"] },
  transactional: { confirmationRequired: true },
  describe: ({ name }) => ({ action: `Keep ${name}`, consequence: "Everybody sees the item." }),
  async checkState({ name }, _context, { workspace }) {
    const kept = await workspace.call(listItems, {});
    if (!kept.ok) return kept;
    const errors = [{ field: "/name", code: "kept", message: "the item is kept already" }];
    const isKept = kept.value.items.some((item) => item.name === name);
    return isKept ? fail({ taxonomyClass: "STALE_STATE", errors }) : ok(null);
  },
  async preview({ name, how }, _context, { workspace }) {
    if (how === "write") await workspace.call(addItem, { name: "written" });
    if (how === "throw") throw new Error("the preview broke");
    const kept = await workspace.call(listItems, {});
    const items = kept.ok ? kept.value.items.map((item) => item.name) : [];
    return {
      before: { items, secret: "s-1" },
      after: { items: [...items, name], secret: "s-2" },
    };
  },
  steps: [{ tool: keepItem, arguments: ({ name }) => ({ name }) }],
  result: (_args, results) => results.of(keepItem),
});

/** Tools that keep business data. */
export const LAB_KEEPERS: readonly AnyToolContract[] = [
  keepItem,
  keepChecked,
  showItems,
  keepAgreed,
];
