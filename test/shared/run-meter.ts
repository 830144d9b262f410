import { beforeEachFile } from "./fresh-state.ts";

/** What one run cost its object, in counts that do not depend on the machine. */
export interface RunCosts {
  /** Groups of writes that became durable together. */
  commits: number;
  /** Calls of `sql.exec`, reads included. */
  statements: number;
  /** Rows that the statements wrote, index rows included. */
  rowsWritten: number;
  /** Times that the alarm was set or deleted. */
  alarms: number;
  /** Calls of other objects. */
  objectCalls: number;
  kvReads: number;
  /** Size of the database of the run. */
  bytes: number;
}

/** What leaves an object or a Worker. */
export type HopCosts = Pick<RunCosts, "objectCalls" | "kvReads">;

let ordered: RunCosts | undefined;
beforeEachFile(() => {
  ordered = undefined;
});

/** Counts what the next new object of a run costs. */
export function meterNextRun(): RunCosts {
  ordered = {
    commits: 0,
    statements: 0,
    rowsWritten: 0,
    alarms: 0,
    objectCalls: 0,
    kvReads: 0,
    bytes: 0,
  };
  return ordered;
}

/** Waits until an object has written nothing for a while. */
export async function untilQuiet(costs: RunCosts): Promise<void> {
  for (let seen = -1; seen !== costs.statements;) {
    seen = costs.statements;
    await scheduler.wait(200);
  }
}

/** Lists the counts that are higher than the budget allows. */
export function findExcess(costs: RunCosts, budget: RunCosts): readonly string[] {
  if (costs.statements === 0) return ["no run was metered"];
  return Object.entries(budget).flatMap(([name, most]) => {
    const count = costs[name as keyof RunCosts];
    return count > most ? [`${name}: ${count}, budget ${most}`] : [];
  });
}

/**
 * Plants the ordered meter in a new object; answers the bindings that the object must use.
 * Contract: call it before the object uses its storage.
 */
export function plantMeter<Bindings extends object>(
  ctx: DurableObjectState,
  env: Bindings,
): Bindings {
  const costs = ordered;
  if (!costs || isUsed(ctx.storage.sql)) return env;
  ordered = undefined;
  Object.defineProperty(ctx, "storage", { value: meterStorage(ctx.storage, costs) });
  return meterBindings(env, costs);
}

function isUsed(sql: SqlStorage): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'log'").toArray().length > 0;
}

function meterStorage(storage: DurableObjectStorage, costs: RunCosts): DurableObjectStorage {
  let isGroupOpen = false;
  const endGroup = (): void => {
    isGroupOpen = false;
  };
  // The platform commits at the end of the turn, and all writes until then share the commit.
  const noteWrite = (): void => {
    if (isGroupOpen) return;
    isGroupOpen = true;
    costs.commits++;
    void storage.sync().then(endGroup, endGroup);
  };
  const exec = (query: string, ...values: unknown[]): unknown => {
    costs.statements++;
    const cursor = storage.sql.exec(query, ...values);
    costs.rowsWritten += cursor.rowsWritten;
    costs.bytes = storage.sql.databaseSize;
    if (!/^\s*SELECT\b/i.test(query)) noteWrite();
    return cursor;
  };
  const sql = watch(storage.sql, (name) => (name === "exec" ? exec : undefined));
  return watch(storage, (name, call) => {
    if (name === "sql") return sql;
    if (name !== "setAlarm" && name !== "deleteAlarm") return undefined;
    return (...args: unknown[]) => {
      costs.alarms++;
      noteWrite();
      return call(args);
    };
  });
}

/** Counts the calls of objects and the reads of KV that go through bindings. */
export function meterBindings<Bindings extends object>(env: Bindings, costs: HopCosts): Bindings {
  return watch(env, (name) => {
    const binding: unknown = Reflect.get(env, name);
    if (name === "TENANTS" || name === "RUNS")
      return meterObjects(binding as DurableObjectNamespace, costs);
    return name === "POLICY" ? meterReads(binding as KVNamespace, costs) : undefined;
  });
}

function meterReads(kv: KVNamespace, costs: HopCosts): KVNamespace {
  return watch(kv, (name, call) => {
    if (name !== "get") return undefined;
    return (...args: unknown[]) => {
      costs.kvReads++;
      return call(args);
    };
  });
}

function meterObjects(objects: DurableObjectNamespace, costs: HopCosts): DurableObjectNamespace {
  return watch(objects, (name) => {
    if (name !== "get") return undefined;
    return (id: DurableObjectId) => {
      costs.objectCalls++;
      return objects.get(id);
    };
  });
}

/**
 * Wraps a platform object. `replace` answers another member, or undefined for the member itself.
 * Its second argument calls the member.
 */
function watch<Watched extends object>(
  watched: Watched,
  replace: (name: string | symbol, call: (args: readonly unknown[]) => unknown) => unknown,
): Watched {
  return new Proxy(watched, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      const call = (args: readonly unknown[]): unknown =>
        Reflect.apply(member as (...given: unknown[]) => unknown, target, args);
      const other = replace(name, call);
      if (other !== undefined) return other;
      return typeof member === "function" ? (...args: unknown[]) => call(args) : member;
    },
  });
}
