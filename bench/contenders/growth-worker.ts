import type { SentNotice } from "../../src/capabilities/tenant.ts";
import type { RawEnv } from "../../src/env.ts";
import type { ActorId, ApprovalId, RunId } from "../../src/protocol/identity/ids.ts";
import * as product from "./interlock-worker.ts";

export class RunObject extends product.RunObject {}

/** The product's tenant object, which also counts the rows that its queries read. */
export class TenantObject extends product.TenantObject {
  readonly #state: DurableObjectState;
  readonly #cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[];

  constructor(ctx: DurableObjectState, env: RawEnv) {
    const { sql } = ctx.storage;
    const exec = sql.exec.bind(sql);
    const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
    sql.exec = ((query: string, ...values: unknown[]) => {
      const cursor = exec(query, ...values);
      cursors.push(cursor);
      return cursor;
    }) as SqlStorage["exec"];
    super(ctx, env);
    this.#state = ctx;
    this.#cursors = cursors;
  }

  /** Bytes that the object stores, and the rows that it read since the last call. */
  async use(): Promise<{ readonly bytes: number; readonly rowsRead: number }> {
    const rowsRead = this.#cursors.splice(0).reduce((sum, cursor) => sum + cursor.rowsRead, 0);
    return { bytes: this.#state.storage.sql.databaseSize, rowsRead };
  }

  /** Takes the notices of finished runs, as their objects send them. */
  async fill(from: number, to: number): Promise<void> {
    for (let run = from; run < to; run++) {
      await this.receive(`run_filled_${run}` as RunId, noticesOf(run));
    }
    this.#cursors.splice(0);
  }
}

function noticesOf(run: number): readonly SentNotice[] {
  const runId = `run_filled_${run}` as RunId;
  const actorId = `user:${run % 100}` as ActorId;
  const at = new Date().toISOString();
  const facts = { runId, model: "bench", actorId, steps: 2, toolCalls: 1, createdAt: at };
  const call = {
    action: "call.ended",
    at,
    runId,
    actorId,
    toolId: "core__get_current_time",
    input: { timeZone: "UTC" },
    result: { time: at },
    outcome: "SUCCESS",
  } as const;
  const notices: readonly SentNotice["notice"][] = [
    { type: "run", run: { ...facts, status: "running", storedBytes: 70_000 } },
    { type: "audit", entry: { action: "run.started", at, runId, actorId } },
    { type: "audit", entry: call },
    { type: "run", run: { ...facts, status: "completed", storedBytes: 80_000, endedAt: at } },
    { type: "audit", entry: { action: "run.ended", at, runId, actorId, decision: "stop" } },
  ];
  return notices.map((notice, index) => ({ seq: index + 1, notice }));
}

/** What may be asked of a tenant's object again and again, by its name. */
const LOADS = {
  async reservations(object: TenantObject, number: number) {
    const pin = await object.policy();
    if (!pin) throw new Error("the tenant has no policy");
    const answer = await object.reserve({
      id: `load-${number}`,
      toolId: "core__get_current_time",
      amounts: { tokens: 1 },
      limits: { tokens: 1_000_000_000 },
      windowSeconds: 86_400,
      pin,
    });
    if (answer.kind !== "reserved") throw new Error(answer.kind);
  },
  places: (object: TenantObject, number: number) =>
    object.takePlace({
      approvalId: `appr_${number}` as ApprovalId,
      requester: `user:${number}` as ActorId,
      limits: { actor: 1_000_000, tenant: 1_000_000 },
    }),
  notices: (object: TenantObject, number: number) =>
    object.receive(`run_load_${number}` as RunId, noticesOf(number)),
  lists: (object: TenantObject) => object.runs({ limit: 50 }),
  audit: (object: TenantObject) => object.audit({ after: 0, limit: 50 }),
} satisfies Record<string, (object: TenantObject, number: number) => Promise<unknown>>;
/** Requests that wait for the object at the same time. */
const AT_ONCE = 16;

/** Asks a tenant's object so many times. */
async function load(object: TenantObject, kind: string, [from, to]: readonly number[]) {
  const ask = LOADS[kind as keyof typeof LOADS];
  let number = from ?? 0;
  const lane = async (): Promise<void> => {
    while (number < (to ?? 0)) await ask(object, number++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

export default {
  async fetch(request: Request, env: RawEnv): Promise<Response> {
    const [, , tenant = "", from, to, kind] = new URL(request.url).pathname.split("/");
    if (!request.url.includes("/tenant/")) {
      return product.default.fetch(request, env);
    }
    const tenants = env["TENANTS"] as DurableObjectNamespace;
    const object = tenants.get(tenants.idFromName(tenant)) as unknown as TenantObject;
    if (kind !== undefined) await load(object, kind, [Number(from), Number(to)]);
    else if (from !== undefined) await object.fill(Number(from), Number(to));
    return Response.json(await object.use());
  },
};
