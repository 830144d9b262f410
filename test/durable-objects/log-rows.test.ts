import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { LogRows, type LogRow } from "../../durable-objects/run/log-rows.ts";
import { createRunTables } from "../../durable-objects/run/run-tables.ts";
import { readLog } from "../shared/run-object.ts";
import { bindings } from "../shared/worker.ts";

let objects = 0;

function withRows(work: (sql: SqlStorage) => void): Promise<void> {
  const id = bindings.RUNS.idFromName(`log-rows-${objects++}`);
  return runInDurableObject(bindings.RUNS.get(id), (_object, { storage }) => {
    createRunTables(storage.sql);
    work(storage.sql);
  });
}

/** Letters that hardly repeat, the same for the same seed. */
function noise(seed: number, chars: number): string {
  let state = seed;
  let text = "";
  while (text.length < chars) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    text += state.toString(36);
  }
  return text.slice(0, chars);
}

/** A step of a run: a text of its kind, and what only this step says. */
const stepOf = (kind: number, step: number): LogRow => ({
  state: JSON.stringify([{ kind: "message", text: noise(kind, 3_000), step }]),
  events: {
    firstSeq: step,
    lastSeq: step,
    epoch: 0,
    body: JSON.stringify([{ type: "done", text: noise(kind, 800) }]),
  },
});

const sizesIn = (sql: SqlStorage): readonly { size: number; base: number | null }[] =>
  sql
    .exec<{ size: number; base: number | null }>(
      "SELECT length(state) + length(body) AS size, base FROM log WHERE seq > 0 ORDER BY seq",
    )
    .toArray();

test("a row that resembles an earlier one takes a tenth of the room", () =>
  withRows((sql) => {
    const rows = new LogRows(sql);
    const written = [1, 2, 3].map((step) => stepOf(7, step));
    for (const row of written) rows.append(row);
    const [first, second, third] = sizesIn(sql);
    expect([first?.base, second?.base, third?.base]).toEqual([null, 1, 1]);
    expect(second?.size).toBeLessThan((first?.size ?? 0) / 10);
    expect(readLog(sql)).toMatchObject(
      written.map(({ state, events }) => ({ state, body: events?.body })),
    );
  }));

test("a row that resembles none is compressed alone, and is the dictionary of the next", () =>
  withRows((sql) => {
    const rows = new LogRows(sql);
    for (const [at, kind] of [1, 1, 2, 2, 1].entries()) rows.append(stepOf(kind, at));
    expect(sizesIn(sql).map(({ base }) => base)).toEqual([null, 1, null, 3, null]);
  }));

test("a short row keeps the dictionary of the steps, even where that helps little", () =>
  withRows((sql) => {
    const rows = new LogRows(sql);
    rows.append(stepOf(1, 1));
    rows.append({ state: JSON.stringify([noise(9, 1_000)]), events: undefined });
    rows.append(stepOf(1, 2));
    expect(sizesIn(sql).map(({ base }) => base)).toEqual([null, 1, 1]);
  }));

test("a new incarnation reads what an earlier one compressed, and begins with a row of its own", () =>
  withRows((sql) => {
    const [one, two, three] = [1, 2, 3].map((step) => stepOf(7, step));
    const before = new LogRows(sql);
    for (const row of [one, two]) if (row) before.append(row);
    if (three) new LogRows(sql).append(three);
    expect(sizesIn(sql).map(({ base }) => base)).toEqual([null, 1, null]);
    expect(readLog(sql).map(({ state }) => state)).toEqual([one?.state, two?.state, three?.state]);
  }));

test("rows that follow a deletion have no base, because the deletion may be rolled back", () =>
  withRows((sql) => {
    const rows = new LogRows(sql);
    rows.append(stepOf(7, 1));
    rows.clear();
    for (const step of [2, 3]) rows.append(stepOf(7, step));
    expect(sizesIn(sql).map(({ base }) => base)).toEqual([null, null]);
  }));
