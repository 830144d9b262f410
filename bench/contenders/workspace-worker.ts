import { DurableObject } from "cloudflare:workers";
import * as v from "valibot";
import type { WorkspaceMethods } from "../../src/capabilities/workspace.ts";
import { defineOperation, defineWorkspace } from "../../src/contracts/define/define-workspace.ts";
import type { RawEnv } from "../../src/env.ts";
import { hostWorkspaces } from "../../src/host-workspaces.ts";
import type { ActorId, RunId, TenantId } from "../../src/protocol/identity/ids.ts";
import { ok } from "../../src/protocol/outcome/result.ts";
import { objectNameOf } from "../../src/protocol/workspace/address.ts";

const TABLE = "CREATE TABLE notes (id TEXT PRIMARY KEY, text TEXT NOT NULL)";
const INSERT = "INSERT INTO notes (id, text) VALUES (?, ?)";
const TEXT = "A note of the bench.";

const add = defineOperation({
  name: "add",
  kind: "write",
  input: v.strictObject({ text: v.string() }),
  output: v.strictObject({ id: v.string() }),
  run(sql, { text }, { newId }) {
    const id = newId();
    sql.run(INSERT, id, text);
    return ok({ id });
  },
});

const workspaces = hostWorkspaces([
  defineWorkspace({ name: "bench", migrations: [TABLE], operations: [add] }),
]);
export const { WorkspaceObject } = workspaces;

/** Writes the same row without a ledger. */
export class RawObject extends DurableObject<RawEnv> {
  constructor(ctx: DurableObjectState, env: RawEnv) {
    super(ctx, env);
    ctx.storage.sql.exec(TABLE.replace("TABLE", "TABLE IF NOT EXISTS"));
  }

  async add(text: string): Promise<{ readonly id: string }> {
    const id = crypto.randomUUID();
    this.ctx.storage.sql.exec(INSERT, id, text);
    return { id };
  }
}

/** The objects that the product's settings name. */
export class RunObject extends DurableObject {}
export class TenantObject extends DurableObject {}

const WORKSPACE = { name: "bench", tenantId: "bench" as TenantId, workspaceId: "bench" };

export default {
  /** `POST /workspace/100`, `POST /raw/100`: makes so many writes, one after the other. */
  async fetch(request: Request, env: RawEnv): Promise<Response> {
    const [, kind, count] = new URL(request.url).pathname.split("/");
    const write = kind === "raw" ? rawWriter(env) : workspaceWriter(env);
    for (let done = 0; done < Number(count); done++) await write();
    return Response.json({ done: Number(count) });
  },
};

function rawWriter(env: RawEnv): () => Promise<unknown> {
  const objects = env["RAW"] as DurableObjectNamespace<RawObject>;
  const object = objects.get(objects.idFromName("bench"));
  return () => object.add(TEXT);
}

const RUN_ID = "run_bench" as RunId;

function workspaceWriter(env: RawEnv): () => Promise<unknown> {
  const objects = env["WORKSPACES"] as DurableObjectNamespace;
  const object = objects.get(objects.idFromName(objectNameOf(WORKSPACE))) as DurableObjectStub &
    WorkspaceMethods;
  return () =>
    object.call({
      workspace: WORKSPACE,
      operation: add.name,
      args: { text: TEXT },
      actorId: "service:bench" as ActorId,
      runId: RUN_ID,
      conversationId: RUN_ID,
      key: crypto.randomUUID(),
      deadlineMs: Date.now() + 60_000,
    });
}
