import * as v from "valibot";
import { expect, test } from "vitest";
import { defineOperation, defineTool, defineWorkspace, ok } from "../../src/exports/tools.ts";
import {
  call,
  decidePolicy,
  person,
  runTool,
  say,
  scriptedModel,
  startRun,
} from "../../src/testing/index.ts";
import { testWorkspace } from "../../src/testing/workspace/test-workspace.ts";

const row = v.strictObject({ title: v.string(), author: v.string(), at: v.number() });

const addBook = defineOperation({
  name: "add_book",
  kind: "write",
  input: v.strictObject({ title: v.string() }),
  output: v.strictObject({ id: v.string() }),
  run(sql, { title }, { authorId, nowMs, newId }) {
    sql.run("INSERT INTO books (title, author, at) VALUES (?, ?, ?)", title, authorId, nowMs);
    return ok({ id: newId() });
  },
});
const listBooks = defineOperation({
  name: "list_books",
  kind: "read",
  input: v.strictObject({}),
  output: v.strictObject({ books: v.array(row) }),
  run: (sql) => ok({ books: sql.rows(row, "SELECT * FROM books") }),
});
const shelf = defineWorkspace({
  name: "shelf",
  migrations: ["CREATE TABLE books (title TEXT, author TEXT, at INTEGER)"],
  operations: [addBook, listBooks],
});
const common = {
  version: "1.0.0",
  description: "A tool of the shelf.",
  capabilities: ["workspace"],
  workspace: "shelf",
} as const;
const addBookTool = defineTool({
  ...common,
  name: "shelf__add_book",
  input: addBook.input,
  output: addBook.output,
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: ["title"], output: ["id"] },
  execute: ({ title }, _context, { workspace }) => workspace.call(addBook, { title }),
});
const listBooksTool = defineTool({
  ...common,
  name: "shelf__list_books",
  input: listBooks.input,
  output: listBooks.output,
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: [], output: ["books.*.title"] },
  execute: (_args, _context, { workspace }) => workspace.call(listBooks, {}),
});
const NOW = "2026-03-01T00:00:00Z";

test("a tool writes into the workspace of its test, in the name and at the time of its run", async () => {
  const workspace = testWorkspace(shelf);
  const around = { workspaces: [workspace], principal: person("bob"), now: NOW };
  const added = await runTool(addBookTool, { title: "Momo" }, around);
  expect(added.data).toEqual({ id: "id_1" });
  expect(await workspace.call(listBooks, {})).toMatchObject({
    value: { books: [{ title: "Momo", author: "user:bob", at: Date.parse(NOW) }] },
  });
});

test("two runs of a test that make the same call write twice, and the next run reads both", async () => {
  const workspaces = [testWorkspace(shelf)];
  await runTool(addBookTool, { title: "Momo" }, { workspaces });
  await runTool(addBookTool, { title: "Momo" }, { workspaces });
  const run = await startRun({
    tools: [addBookTool, listBooksTool],
    workspaces,
    model: scriptedModel([call("shelf__list_books"), say("Two.")]),
  });
  expect(run.calls).toMatchObject([
    { data: { books: [{ title: "Momo" }, { title: "Momo" }] }, taxonomyClass: "SUCCESS" },
  ]);
});

test("a policy says who is a member, as in the product", async () => {
  const policy = {
    allowedTools: ["shelf__add_book"],
    workspaces: { studio: { roles: ["designer"] } },
  };
  const add = (roles: readonly string[]) =>
    runTool(
      addBookTool,
      { title: "Momo" },
      { policy, workspaces: [testWorkspace(shelf)], principal: person("ann", { roles }) },
    );
  expect((await add(["designer"])).taxonomyClass).toBe("SUCCESS");
  expect((await add([])).errors).toMatchObject([{ code: "no_workspace" }]);
});

test("a run names one of several workspaces", async () => {
  const [home, away] = [testWorkspace(shelf), testWorkspace(shelf, { workspaceId: "away" })];
  const around = { workspaces: [home, away] };
  const unnamed = await runTool(addBookTool, { title: "Momo" }, around);
  expect(unnamed.errors).toMatchObject([{ code: "no_workspace" }]);
  await runTool(addBookTool, { title: "Momo" }, { ...around, workspaceId: "away" });
  const count = async (workspace: typeof home) => {
    const read = await workspace.call(listBooks, {});
    return read.ok ? read.value.books.length : read.failure;
  };
  expect([await count(home), await count(away)]).toEqual([0, 1]);
});

test("a read-only tool cannot write", async () => {
  const sneaky = defineTool({
    ...common,
    name: "shelf__sneak",
    input: v.strictObject({}),
    output: addBook.output,
    sideEffectClass: "READ_ONLY",
    effect: "read_only",
    redaction: { args: [], output: ["id"] },
    execute: (_args, _context, { workspace }) => workspace.call(addBook, { title: "Momo" }),
  });
  const workspace = testWorkspace(shelf);
  const sneaked = await runTool(sneaky, {}, { workspaces: [workspace] });
  expect(sneaked.ok).toBe(false);
  expect(await workspace.call(listBooks, {})).toMatchObject({ value: { books: [] } });
});

test("a workspace that the test does not have is said, with the way to give it", async () => {
  await expect(runTool(addBookTool, { title: "Momo" })).rejects.toThrow(
    "shelf__add_book uses the workspace shelf, which the test does not have. Name it: " +
      "{ workspaces: [testWorkspace(definition)] }.",
  );
});

test("decidePolicy takes the workspace of the caller, and the one that the question names", async () => {
  const policy = {
    allowedTools: ["shelf__add_book"],
    workspaces: { studio: { roles: ["designer"] }, away: { actors: ["user:ann", "user:bob"] } },
  };
  const decide = (who: string, roles: readonly string[], workspaceId?: string) =>
    decidePolicy(policy, {
      tool: addBookTool,
      args: { title: "Momo" },
      principal: person(who, { roles }),
      ...(workspaceId !== undefined && { workspaceId }),
    });
  const allowed = { decision: "allow" };
  const refused = { gate: "authorise", errors: [{ code: "no_workspace" }] };
  expect(await decide("ann", [])).toEqual(allowed);
  expect(await decide("cyd", ["designer"])).toEqual(allowed);
  expect(await decide("bob", ["designer"], "studio")).toEqual(allowed);
  expect(await decide("bob", ["designer"])).toMatchObject(refused);
  expect(await decide("bob", [], "studio")).toMatchObject(refused);
  expect(await decide("cyd", [])).toMatchObject(refused);
});

test("a run that reaches a workspace which the test lacks fails at once, and says its id", async () => {
  const policy = {
    allowedTools: ["shelf__add_book"],
    workspaces: { studios: { actors: ["user:ann"] } },
  };
  const add = (around: object) =>
    runTool(addBookTool, { title: "Momo" }, { workspaces: [testWorkspace(shelf)], ...around });
  await expect(add({ policy })).rejects.toThrow(
    "A tool called the workspace shelf with the id studios, and the test has studio. Open it: " +
      'testWorkspace(definition, { workspaceId: "studios" }).',
  );
  await expect(add({ workspaceId: "studios" })).rejects.toThrow(
    "The run names the workspace studios, and the test has studio.",
  );
});

test("a run whose workspace cannot be opened fails at once, with the migration", async () => {
  const broken = { ...shelf, migrations: ["CREATE TABLE books (title TEXT)", "DROP TABLE book"] };
  let dispatches = 0;
  const before = () => {
    dispatches++;
    return Promise.resolve(undefined);
  };
  const around = { workspaces: [testWorkspace(broken)], hooks: [{ before }] };
  await expect(runTool(addBookTool, { title: "Momo" }, around)).rejects.toThrow(
    "The workspace shelf cannot be opened. migration 2 of shelf failed: no such table: book.",
  );
  expect(dispatches).toBe(1);
});

test("a test reads and erases what a workspace holds of a person, however many pages that takes", async () => {
  const known = defineWorkspace({
    ...shelf,
    exportPerson(sql, { personId, after = "" }) {
      const page = "SELECT * FROM books WHERE author = ? AND title > ? ORDER BY title LIMIT 1";
      const rows = sql.rows(row, page, personId, after);
      return { rows, ...(rows[0] && { next: rows[0].title }) };
    },
    erasePerson: (sql, { personId }) => sql.run("DELETE FROM books WHERE author = ?", personId),
  });
  const workspace = testWorkspace(known);
  expect(workspace.exportPerson("user:ann")).toEqual([]);
  for (const title of ["Dune", "Emma", "Momo"]) await workspace.call(addBook, { title });
  await workspace.call(addBook, { title: "Jim" }, { actorId: "user:ben" });
  const titles = (person: string): unknown =>
    workspace.exportPerson(person)?.map(({ title }) => title);
  expect(titles("user:ann")).toEqual(["Dune", "Emma", "Momo"]);
  expect([workspace.erasePerson("user:ann"), workspace.erasePerson("user:ann")]).toEqual([3, 0]);
  expect([titles("user:ann"), titles("user:ben")]).toEqual([[], ["Jim"]]);
  for (const silent of [testWorkspace(shelf), workspace.reopen(shelf)]) {
    expect(silent.exportPerson("user:ben")).toBeUndefined();
    expect(silent.erasePerson("user:ben")).toBeUndefined();
  }
  const broken = (): never => {
    throw new Error("the export broke");
  };
  const endless = testWorkspace(
    defineWorkspace({ ...known, exportPerson: broken, erasePerson: () => 500 }),
  );
  await endless.call(addBook, { title: "Dune" });
  expect(() => endless.exportPerson("user:ann")).toThrow("the export broke");
  expect(() => endless.erasePerson("user:ann")).toThrow("does not end");
});
