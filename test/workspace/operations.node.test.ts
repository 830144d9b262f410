import * as v from "valibot";
import { describe, expect, test, vi } from "vitest";
import { defineOperation, defineWorkspace } from "../../src/contracts/define/define-workspace.ts";
import { fail, ok } from "../../src/protocol/outcome/result.ts";
import type { OperationCall, Workspace } from "../../src/capabilities/workspace.ts";
import type { ActorId } from "../../src/protocol/identity/ids.ts";
import { TEST_RUN_ID, TEST_TENANT } from "../../src/testing/run/person.ts";
import { hostedOf, testWorkspace } from "../../src/testing/workspace/test-workspace.ts";
import { createWorkspaceBinder } from "../../src/workspace/bind-workspace.ts";

const DAY_MS = 86_400_000;
const noteRow = v.object({ id: v.string(), text: v.string() });
const text = v.pipe(v.string(), v.maxLength(300_000));

const addNote = defineOperation({
  name: "add_note",
  kind: "write",
  input: v.strictObject({ text }),
  output: v.strictObject({ id: v.string(), changed: v.number() }),
  run(sql, args, { newId, announce }) {
    const id = newId();
    const changed = sql.run("INSERT INTO notes (id, text) VALUES (?, ?)", id, args.text);
    announce({ entity: "note", id });
    if (args.text === "no") {
      const errors = [{ field: null, code: "no", message: "expected a yes" }];
      return fail({ taxonomyClass: "SEMANTIC_INVALIDITY", errors });
    }
    return ok({ id, changed });
  },
});

const texts = defineOperation({
  name: "texts",
  kind: "read",
  input: v.strictObject({}),
  output: v.strictObject({ texts: v.array(v.string()) }),
  run: (sql) => ok({ texts: sql.rows(noteRow, "SELECT * FROM notes").map((row) => row.text) }),
});

/** Changes a note, or makes another one of its text. */
const reuse = defineOperation({
  name: "reuse",
  kind: "write",
  input: v.strictObject({ id: text, how: v.picklist(["rename", "copy", "fail"]) }),
  output: v.strictObject({ text }),
  run(sql, { id, how }, { reads, announce }) {
    const row = sql.first(noteRow, "SELECT * FROM notes WHERE id = ?", id);
    if (how !== "rename") reads({ entity: "note", id });
    if (how === "copy") sql.run("INSERT INTO notes (id, text) VALUES ('copy', ?)", row?.text ?? "");
    announce({ entity: "note", id: how === "copy" ? "copy" : id });
    if (how !== "fail") return ok({ text: row?.text ?? "" });
    const errors = [{ field: null, code: "no", message: row?.text ?? "" }];
    return fail({ taxonomyClass: "SEMANTIC_INVALIDITY", errors });
  },
});

const marksOf = defineOperation({
  name: "marks_of",
  kind: "read",
  input: v.strictObject({ ids: v.array(text) }),
  output: v.strictObject({ after: v.array(text) }),
  run(_sql, { ids }, { reads, fromUntrusted }) {
    for (const id of ids) reads({ entity: "note", id });
    return ok({ after: fromUntrusted.map(({ kind }) => kind) });
  },
});

const FIRST =
  "CREATE TABLE notes (id TEXT PRIMARY KEY, text TEXT NOT NULL); CREATE INDEX by_text ON notes (text)";
const notes = defineWorkspace({
  name: "notes",
  migrations: [FIRST],
  operations: [addNote, texts, reuse, marksOf],
});

/** The texts that a workspace holds. */
async function held(workspace: ReturnType<typeof testWorkspace>): Promise<unknown> {
  const read = await workspace.call(texts, {});
  return read.ok ? read.value.texts : read.failure;
}

/** The workspace as a function of a tool has it that only asks before the write `key`. */
function asked(workspace: ReturnType<typeof testWorkspace>, key?: string): Workspace {
  const gateway = { call: (call: OperationCall) => hostedOf(workspace).call(call, 0) };
  const user = { runId: TEST_RUN_ID, conversationId: TEST_RUN_ID, workspaceId: "studio" };
  return createWorkspaceBinder(gateway, { nowMs: () => 0 }).bind({
    name: "notes",
    user: { ...user, tenantId: TEST_TENANT, actorId: "user:ann" as ActorId },
    timeoutMs: Number.POSITIVE_INFINITY,
    sources: { list: () => [], hasRead: () => false, note: () => undefined },
    ...(key !== undefined && { rehearsalKey: key }),
  });
}

describe("a rehearsal", () => {
  test("answers as the write would, and leaves neither rows, changes nor its key", async () => {
    const workspace = testWorkspace(notes);
    await workspace.call(addNote, { text: "a" });
    const asking = asked(workspace, "k");
    expect(await asking.rehearse(addNote, { text: "b" })).toMatchObject({ ok: true });
    expect(await asking.rehearse(addNote, { text: "no" })).toMatchObject({
      failure: { errors: [{ code: "no" }] },
    });
    expect([await held(workspace), workspace.changes.length]).toEqual([["a"], 1]);
    expect((await workspace.call(addNote, { text: "c" }, { key: "k" })).write).toBe("changed");
  });

  test("answers what its write has answered before, whatever has changed since", async () => {
    const workspace = testWorkspace(notes);
    const made = await workspace.call(addNote, { text: "a" }, { key: "k" });
    expect(await asked(workspace, "k").rehearse(addNote, { text: "a" })).toEqual({
      ok: true,
      value: made.ok && made.value,
    });
  });

  test("is refused to a call that has no write", async () => {
    const refused = asked(testWorkspace(notes)).rehearse(addNote, { text: "a" });
    await expect(refused).rejects.toThrow("cannot rehearse add_note");
  });
});

describe("the ledger", () => {
  test("answers a repeated key with the stored result, and runs nothing", async () => {
    const workspace = testWorkspace(notes);
    const first = await workspace.call(addNote, { text: "a" }, { key: "k" });
    expect(first).toMatchObject({ ok: true, value: { id: "id_1", changed: 1 }, write: "changed" });
    expect(await workspace.call(addNote, { text: "a" }, { key: "k" })).toEqual(first);
    expect(await held(workspace)).toEqual(["a"]);
  });

  test("refuses another payload under a key, and says whether the key has changed anything", async () => {
    const workspace = testWorkspace(notes);
    await workspace.call(addNote, { text: "a" }, { key: "k" });
    expect(await workspace.call(addNote, { text: "b" }, { key: "k" })).toMatchObject({
      failure: { taxonomyClass: "SIGNATURE_MISMATCH" },
      write: "changed",
    });
    expect(await held(workspace)).toEqual(["a"]);
  });

  test("keeps a refusal like a result, and nothing else of the operation", async () => {
    const workspace = testWorkspace(notes);
    const first = await workspace.call(addNote, { text: "no" }, { key: "k" });
    expect(first).toMatchObject({ ok: false, write: "unchanged" });
    expect(await workspace.call(addNote, { text: "no" }, { key: "k" })).toEqual(first);
    expect([await held(workspace), workspace.changes]).toEqual([[], []]);
  });

  test("outlives the retention of its key by a day, and is then removed", async () => {
    const workspace = testWorkspace(notes);
    const first = await workspace.call(addNote, { text: "a" }, { key: "k" });
    workspace.advance(2 * DAY_MS - 1);
    expect(await workspace.call(addNote, { text: "a" }, { key: "k" })).toEqual(first);
    workspace.advance(1);
    expect(await workspace.call(addNote, { text: "a" }, { key: "k" })).not.toEqual(first);
  });

  test("removes thousands of expired rows in batches", async () => {
    const workspace = testWorkspace(notes);
    for (let index = 0; index < 1_200; index++) await workspace.call(addNote, { text: "a" });
    const again = (): unknown => workspace.call(addNote, { text: "a" }, { key: "key_1" });
    workspace.advance(2 * DAY_MS);
    workspace.advance(0);
    workspace.advance(0);
    expect(await again()).toMatchObject({ value: { id: "id_1201" } });
  });
});

describe("a mark", () => {
  const fromUntrusted = [{ kind: "tool", tool: "mail__read" }] as const;
  const open = async (): Promise<ReturnType<typeof testWorkspace>> => {
    const workspace = testWorkspace(notes);
    await workspace.call(addNote, { text: "clean" });
    await workspace.call(addNote, { text: "theirs" }, { fromUntrusted });
    return workspace;
  };
  const marked = async (workspace: ReturnType<typeof testWorkspace>, ...ids: string[]) =>
    (await workspace.call(marksOf, { ids })).fromUntrusted;

  test("stands at what a write after untrusted output announced, and at nothing else", async () => {
    const workspace = await open();
    expect(await marked(workspace, "id_1", "unknown")).toBeUndefined();
    expect(await marked(workspace, "id_1", "id_2")).toEqual(fromUntrusted);
  });

  test("outlives every later write and newer code; sources are only added", async () => {
    const workspace = await open();
    await workspace.call(reuse, { id: "id_2", how: "rename" });
    expect(await marked(workspace, "id_2")).toEqual(fromUntrusted);
    const file = [{ kind: "file" }] as const;
    await workspace.call(reuse, { id: "id_2", how: "rename" }, { fromUntrusted: file });
    expect(await marked(workspace.reopen(notes), "id_2")).toEqual([...fromUntrusted, ...file]);
  });

  test("goes over to what is made of it, and into the answer of a repeated key", async () => {
    const workspace = await open();
    const copied = await workspace.call(reuse, { id: "id_2", how: "copy" }, { key: "k" });
    expect(copied).toMatchObject({ ok: true, fromUntrusted });
    expect(await marked(workspace, "copy")).toEqual(fromUntrusted);
    expect(await workspace.call(reuse, { id: "id_2", how: "copy" }, { key: "k" })).toEqual(copied);
  });

  test("is told with a failure too, and a failed write leaves none", async () => {
    const workspace = await open();
    const call = workspace.call(reuse, { id: "id_2", how: "fail" });
    expect(await call).toMatchObject({ ok: false, fromUntrusted });
    await workspace.call(reuse, { id: "id_1", how: "fail" }, { fromUntrusted });
    expect(await marked(workspace, "id_1")).toBeUndefined();
  });
});

describe("a call", () => {
  test("after its deadline does nothing", async () => {
    const workspace = testWorkspace(notes, { now: 1_000 });
    for (const [deadlineMs, code] of [
      [999, "deadline_passed"],
      [1_000, undefined],
    ] as const) {
      const called = await workspace.call(addNote, { text: "a" }, { deadlineMs });
      expect(called.ok ? undefined : called.failure.errors[0]?.code).toBe(code);
    }
    expect(await held(workspace)).toEqual(["a"]);
  });

  test("whose arguments are too long is refused", async () => {
    const workspace = testWorkspace(notes);
    const called = await workspace.call(addNote, { text: "ä".repeat(140_000) });
    expect(called).toMatchObject({ failure: { errors: [{ code: "arguments_too_long" }] } });
    expect(await held(workspace)).toEqual([]);
  });

  test("that may only read cannot name a write", async () => {
    const workspace = testWorkspace(notes);
    const called = await workspace.call({ ...addNote, kind: "read" }, { text: "a" });
    expect(called).toMatchObject({ failure: { errors: [{ code: "read_only" }] } });
  });

  test("announces its changes in order, each with the next revision", async () => {
    const workspace = testWorkspace(notes);
    for (const one of ["a", "no", "b"]) await workspace.call(addNote, { text: one });
    expect(workspace.changes).toEqual([
      { entity: "note", id: "id_1", revision: 1 },
      { entity: "note", id: "id_3", revision: 2 },
    ]);
  });
});

test("a result that does not fit names its field to operators, and to nobody else", async () => {
  const lists = { ...texts, output: v.strictObject({ texts: v.array(v.string()) }) };
  const misfit = { ...lists, run: () => ok({ texts: ["a", 7] as never }) };
  const workspace = testWorkspace({ ...notes, operations: [misfit] });
  const answer = await workspace.call(texts, {});
  expect(answer).toMatchObject({ failure: { errors: [{ field: null, code: "result_refused" }] } });
  expect(workspace.faults).toEqual(["texts: /texts/1: expected string, got a number"]);
  expect(JSON.stringify(answer)).not.toContain("/texts");
});

describe("migrations", () => {
  const SECOND = "ALTER TABLE notes ADD COLUMN stars INTEGER NOT NULL DEFAULT 0";
  const BROKEN = "ALTER TABLE notes ADD COLUMN moons INTEGER; INSERT INTO nowhere VALUES (1)";
  const withMore = (...more: readonly string[]) =>
    defineWorkspace({ ...notes, migrations: [FIRST, ...more] });

  test("run once, in order, on the data that is there", async () => {
    const workspace = testWorkspace(notes);
    await workspace.call(addNote, { text: "a" }, { key: "k" });
    const newer = workspace.reopen(withMore(SECOND)).reopen(withMore(SECOND));
    expect([await held(newer), newer.faults]).toEqual([["a"], []]);
    const stored = await newer.call(addNote, { text: "a" }, { key: "k" });
    expect(stored).toMatchObject({ value: { id: "id_1" } });
  });

  test("that fail leave the old data, and a refusal that names no SQL", async () => {
    const workspace = testWorkspace(notes);
    await workspace.call(addNote, { text: "a" });
    const broken = workspace.reopen(withMore(SECOND, BROKEN));
    const refused = await broken.call(addNote, { text: "b" });
    expect(refused).toMatchObject({
      failure: {
        taxonomyClass: "DEPENDENCY_UNAVAILABLE",
        errors: [{ code: "workspace_unavailable" }],
        errorId: "err_1",
      },
    });
    expect(JSON.stringify(refused)).not.toMatch(/nowhere|moons|SQL/);
    expect(String(broken.faults[0])).toContain("migration 3 of notes failed: no such table");
    const mended = broken.reopen(withMore(SECOND, "ALTER TABLE notes ADD COLUMN moons INTEGER"));
    expect(await held(mended)).toEqual(["a"]);
  });

  test.each([
    ["another text are refused, and named", FIRST.replace("NOT NULL", ""), false],
    ["one more statement are refused, and named", `${FIRST}; DROP INDEX by_text`, false],
    ["other spaces are the same", `\n  ${FIRST.replace("; ", ";\n\n  ")}\n`, true],
  ])("that ran and have %s", async (_what, changed, opens) => {
    const workspace = testWorkspace(withMore(SECOND));
    await workspace.call(addNote, { text: "a" });
    const migrations = [changed, SECOND, "CREATE TABLE third (id TEXT)"];
    const newer = workspace.reopen({ ...notes, migrations });
    if (opens) return expect([await held(newer), newer.faults]).toEqual([["a"], []]);
    expect(await newer.call(addNote, { text: "b" })).toMatchObject({
      failure: { errors: [{ code: "workspace_unavailable" }] },
    });
    expect(String(newer.faults[0])).toBe(
      "Error: migration 1 of notes is not the one that this workspace ran. Restore its text, and " +
        "add the change as a new entry at the end",
    );
    const mended = newer.reopen(withMore(SECOND, "CREATE TABLE third (id TEXT)"));
    expect(await held(mended)).toEqual(["a"]);
  });

  test("that fail at the first call create nothing", async () => {
    const workspace = testWorkspace(withMore(BROKEN));
    expect(await workspace.call(addNote, { text: "a" })).toMatchObject({ ok: false });
    expect(await held(workspace.reopen(notes))).toEqual([]);
  });

  test("of newer code are refused by older code, which changes nothing", async () => {
    const workspace = testWorkspace(withMore(SECOND));
    await workspace.call(addNote, { text: "a" });
    const older = workspace.reopen(notes);
    expect(await older.call(addNote, { text: "b" })).toMatchObject({
      failure: { errors: [{ code: "workspace_unavailable" }] },
    });
    expect(await held(older.reopen(withMore(SECOND)))).toEqual(["a"]);
  });
});

describe("a definition is refused", () => {
  test.each([
    ["with a wrong name", { name: "Notes" }, "must be 1 to 32 of [a-z0-9-]"],
    ["without tables", { migrations: [] }, "has no tables"],
    [
      "that touches the runtime's tables",
      { migrations: ["DROP TABLE interlock_ledger"] },
      "reserved",
    ],
    ["with two operations of one name", { operations: [texts, texts] }, "two operations"],
    ["with a wrong operation name", { operations: [{ ...texts, name: "Texts" }] }, "[a-z0-9_]"],
  ])("%s", (_what, change, reason) => {
    expect(() => defineWorkspace({ ...notes, ...change })).toThrow(reason);
  });
});

test("a Node without node:sqlite is told which version has it", () => {
  using _older = vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
  expect(() => testWorkspace(notes)).toThrow("Use Node 22.13 or newer");
});
