/** Counts a durable write, performs it, and may crash the object before or after it. */
export type WritePoint = <T>(label: string, write: () => T) => T;
/** Is told the name of a table right before a statement creates it. */
export type FirstUse = (table: string) => void;

/** Methods that write. Each call is one write point. */
const WRITES = new Set(["sync", "setAlarm", "deleteAlarm", "deleteAll", "transactionSync"]);
const CREATED = /\bCREATE TABLE (?:IF NOT EXISTS )?(\w+)/g;
const READS = new Set(["sql", "getAlarm"]);

/**
 * Wraps an object's storage so that each durable write passes through `atPoint`. A transaction is
 * one point, because a crash inside leaves the same state as a crash before. Fails: throws on a
 * member that is not known to read or to write, so that no write is missed.
 */
export function crashStorage(
  storage: DurableObjectStorage,
  atPoint: WritePoint,
  atFirstUse: FirstUse,
): DurableObjectStorage {
  let depth = 0;
  const inTransaction = <T>(body: () => T): T => {
    depth++;
    try {
      return body();
    } finally {
      depth--;
    }
  };
  const sql = new Proxy(storage.sql, {
    get(target, name) {
      if (name !== "exec") return Reflect.get(target, name, target) as unknown;
      return (query: string, ...bindings: unknown[]) => {
        const run = () => {
          for (const [, table = ""] of query.matchAll(CREATED)) atFirstUse(table);
          return target.exec(query, ...bindings);
        };
        return depth > 0 || isRead(query) ? run() : atPoint(labelOf(query), run);
      };
    },
  });
  return new Proxy(storage, {
    get(target, name) {
      if (name === "sql") return sql;
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      const call = (args: readonly unknown[]): unknown => Reflect.apply(member, target, args);
      if (name === "transactionSync") {
        return (body: () => unknown) => atPoint(name, () => call([() => inTransaction(body)]));
      }
      if (typeof name === "string" && WRITES.has(name)) {
        return (...args: readonly unknown[]) => atPoint(name, () => call(args));
      }
      if (typeof name === "string" && READS.has(name)) {
        return (...args: readonly unknown[]) => call(args);
      }
      throw new Error(`the chaos storage does not know ${String(name)}`);
    },
  });
}

function isRead(query: string): boolean {
  return /^\s*(?:SELECT|WITH\b(?!.*\b(?:INSERT|UPDATE|DELETE)\b)|PRAGMA)\b/is.test(query);
}

/** Names a statement: `INSERT events`. */
function labelOf(query: string): string {
  const [, verb = "write"] = /^\s*(\w+)/.exec(query) ?? [];
  const [, table = ""] =
    /\b(?:INTO|UPDATE|FROM|TABLE)\s+(?:IF NOT EXISTS\s+)?(\w+)/i.exec(query) ?? [];
  return `${verb.toUpperCase()} ${table}`.trim();
}
