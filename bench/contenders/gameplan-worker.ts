import { DurableObject } from "cloudflare:workers";
import * as v from "valibot";
import type { OperationCall, WorkspaceMethods } from "../../src/capabilities/workspace.ts";
import { defineOperation, defineWorkspace } from "../../src/contracts/define/define-workspace.ts";
import type { RawEnv } from "../../src/env.ts";
import { hostWorkspaces } from "../../src/host-workspaces.ts";
import type { ActorId, RunId, TenantId } from "../../src/protocol/identity/ids.ts";
import { ok } from "../../src/protocol/outcome/result.ts";
import { objectNameOf } from "../../src/protocol/workspace/address.ts";
import { gameplanWorkspace } from "../../apps/gameplan/workspace.ts";
import { PROJECT_ID, RAW_READS, SEED, TENANT_ID } from "./gameplan-seed.ts";

const seed = defineOperation({
  name: "seed",
  kind: "write",
  input: v.strictObject({ systems: v.number() }),
  output: v.strictObject({}),
  run(sql, { systems }) {
    for (const statement of SEED) sql.run(statement, systems);
    return ok({});
  },
});

const workspaces = hostWorkspaces([
  defineWorkspace({ ...gameplanWorkspace, operations: [...gameplanWorkspace.operations, seed] }),
]);
export const { WorkspaceObject } = workspaces;

type Row = Record<string, string | number | null>;
type ReadName = keyof typeof RAW_READS;

/** The same tables and rows, read by SQL alone. */
export class RawObject extends DurableObject<RawEnv> {
  async seed(systems: number): Promise<void> {
    const { sql } = this.ctx.storage;
    for (const migration of gameplanWorkspace.migrations) sql.exec(migration);
    for (const statement of SEED) sql.exec(statement, systems);
  }

  async read(name: ReadName): Promise<Row[][]> {
    const { sql } = this.ctx.storage;
    const rows = RAW_READS[name].map((query) => sql.exec<Row>(query, PROJECT_ID).toArray());
    // The first page of the operation answers so many rows too.
    return rows.map((table) => table.slice(0, 300));
  }
}

/** The objects that the product's settings name. */
export class RunObject extends DurableObject {}
export class TenantObject extends DurableObject {}

const OPERATIONS: Readonly<Record<ReadName, { readonly name: string; readonly limit: number }>> = {
  list: { name: "list_game_systems", limit: 100 },
  graph: { name: "get_dependency_graph", limit: 200 },
};

export default {
  /**
   * `POST /seed/workspace/10000` and `POST /seed/raw/10000` fill a project with so many systems.
   * `POST /list/raw/10000/100` reads it so many times; so do `graph` and `workspace`.
   */
  async fetch(request: Request, env: RawEnv): Promise<Response> {
    const [, task, kind, systems, count] = new URL(request.url).pathname.split("/");
    const project =
      kind === "raw" ? rawProject(env, Number(systems)) : hosted(env, Number(systems));
    if (task === "seed") await project.seed();
    else for (let done = 0; done < Number(count); done++) await project.read(task as ReadName);
    return Response.json({});
  },
};

interface Project {
  seed(): Promise<void>;
  read(name: ReadName): Promise<void>;
}

function rawProject(env: RawEnv, systems: number): Project {
  const objects = env["RAW"] as DurableObjectNamespace<RawObject>;
  const object = objects.get(objects.idFromName(String(systems)));
  return {
    seed: () => object.seed(systems),
    read: async (name) => void (await object.read(name)),
  };
}

const RUN_ID = "run_bench" as RunId;

function hosted(env: RawEnv, systems: number): Project {
  const objects = env["WORKSPACES"] as DurableObjectNamespace;
  const workspaceId = `systems-${systems}`;
  const workspace = { name: "gameplan", tenantId: TENANT_ID as TenantId, workspaceId };
  const object = objects.get(objects.idFromName(objectNameOf(workspace))) as DurableObjectStub &
    WorkspaceMethods;
  const call = async (called: Pick<OperationCall, "operation" | "args" | "key">): Promise<void> => {
    const actorId = "service:bench" as ActorId;
    const deadlineMs = Date.now() + 60_000;
    const run = { runId: RUN_ID, conversationId: RUN_ID };
    const { result } = await object.call({ workspace, actorId, deadlineMs, ...run, ...called });
    if (!result.ok) throw new Error(JSON.stringify(result.failure));
  };
  return {
    seed: () => call({ operation: "seed", args: { systems }, key: "seed" }),
    read: (read) => {
      const { name: operation, limit } = OPERATIONS[read];
      return call({ operation, args: { projectId: PROJECT_ID, limit } });
    },
  };
}
