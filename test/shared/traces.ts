import { runInDurableObject } from "cloudflare:test";
import { unpackText, type PackedText } from "../../durable-objects/packed-text.ts";
import { startedObjects } from "../workers/lab-objects.ts";
import { readLog } from "./run-object.ts";
import { bindings } from "./worker.ts";

/** Everything that an object stores, as text, also what it compressed. */
export function dump(stub: DurableObjectStub): Promise<string> {
  return runInDurableObject(stub, (_object, { storage: { sql } }) => {
    const tables = sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
      .toArray()
      .map(({ name }) => name)
      // The audit log keeps what it is for.
      .filter((name) => !/^_cf_|^__|^sqlite_|^audit/.test(name));
    const log = tables.includes("log") ? readLog(sql) : [];
    const pages = tables.includes("pages")
      ? sql.exec<{ body: PackedText }>("SELECT body FROM pages").toArray()
      : [];
    const rows = tables.map((name) => [name, sql.exec(`SELECT * FROM ${name}`).toArray()]);
    return JSON.stringify([rows, log, pages.map(({ body }) => unpackText(body))]);
  });
}

/**
 * Names every object and every record in KV in which one of the words is left. An object that did
 * not start since the test file began stores nothing.
 */
export async function findEverywhere(words: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  const note = (place: string, text: string): void => {
    for (const word of words) if (text.includes(word)) found.push(`${word} in ${place}`);
  };
  for (const kind of ["RUNS", "TENANTS", "WORKSPACES"] as const) {
    for (const object of startedObjects(bindings[kind], kind)) {
      note(`${kind} ${object.id.toString()}`, await dump(object));
    }
  }
  for (const namespace of [bindings.IDEMPOTENCY, bindings.POLICY, bindings.CONNECTIONS]) {
    const { keys, list_complete: isWhole } = await namespace.list();
    if (!isWhole) throw new Error("a page of keys is not all of them");
    for (const { name } of keys) note(name, `${name} ${(await namespace.get(name)) ?? ""}`);
  }
  return found;
}
