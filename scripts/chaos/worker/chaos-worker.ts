import { compileContracts } from "../../../src/contracts/catalog/compiled.ts";
import { registerContracts } from "../../../src/contracts/check/register.ts";
import { defineDeployment } from "../../../src/define-deployment.ts";
import { hostWorkspaces } from "../../../src/host-workspaces.ts";
import type { RawEnv } from "../../../src/env.ts";
import { agUi } from "../../../src/http/clients/ag-ui.ts";
import { openAICompletions } from "../../../src/http/clients/openai-completions.ts";
import { openAIResponses } from "../../../src/http/clients/openai-responses.ts";
import { uiMessage } from "../../../src/http/clients/ui-chat.ts";
import { uiMessage6 } from "../../../src/http/clients/ui-chat-6.ts";
import { runsPage } from "../../../src/http/pages/pages.ts";
import type { TenantMethods } from "../../../src/capabilities/tenant.ts";
import type { RunClaim } from "../../../src/protocol/run/claim.ts";
import { replayRuns } from "../../../src/replay-runs.ts";
import { anthropicWire } from "../../../src/wire/anthropic/wire.ts";
import { assistantTransport } from "../../../src/wire/assistant-transport/wire.ts";
import { openAIWire } from "../../../src/wire/openai/wire.ts";
import { responsesWire } from "../../../src/wire/responses/wire.ts";
import { parseScript, type Crash } from "../world/scenario.ts";
import { CHAOS_TOOLS, connectWorld } from "./chaos-tools.ts";
import {
  planIncarnations,
  recordOfObject,
  recordOfScript,
  type Incarnation,
} from "./crash-plan.ts";
import { CHAOS_GAMEPLAN_TOOLS, chaosGameplan } from "./chaos-gameplan.ts";
import { fillAudit } from "./fill-audit.ts";
import { readLeftByRun, readLeftByTenant } from "./left-over.ts";
import { plantCrashes } from "./plant-crashes.ts";
import { chaosWorkspace, WORKSPACE_TOOLS } from "./chaos-workspace.ts";
import { SharedCrash } from "./shared-crash.ts";

const tools = [...CHAOS_TOOLS, ...WORKSPACE_TOOLS, ...CHAOS_GAMEPLAN_TOOLS];
const workspaces = hostWorkspaces([chaosWorkspace, chaosGameplan]);
const product = defineDeployment({
  tools,
  workspaces,
  replay: replayRuns,
  pages: [runsPage],
  compiled: compileContracts(registerContracts(tools)),
  wires: {
    models: [openAIWire, responsesWire, anthropicWire],
    clients: [assistantTransport, uiMessage, uiMessage6, agUi, openAIResponses, openAICompletions],
  },
});

/** Crashes that any object of a class may come to. */
const SHARED = {
  tenant: new SharedCrash(),
  runs: new SharedCrash(),
  workspaces: new SharedCrash(),
};

/** What an object that has ended still holds. */
const LEFT_OVER = "/chaos/left-over";

/** Adds records to the audit log of a tenant. */
const FILL = "/chaos/fill";

/** The product's run with the chaos tools and a storage that can crash the object at any write. */
export class RunObject extends product.RunObject {
  readonly #begin: (crash: Crash | undefined, incarnation: Incarnation) => void;

  constructor(ctx: DurableObjectState, env: RawEnv) {
    connectWorld(env);
    let incarnation: Incarnation | undefined;
    let crash: Crash | undefined;
    const known = recordOfObject(ctx.id.toString());
    if (known) {
      crash = known.crashes[known.incarnations.length];
      incarnation = { points: [], crashed: false };
      known.incarnations.push(incarnation);
    }
    plantCrashes(ctx, {
      crashAt: (label) => {
        const isHere = incarnation?.points.push(label) === crash?.point;
        return SHARED.runs.crashAt(label) ?? (isHere ? crash?.mode : undefined);
      },
      noteCrash: () => {
        SHARED.runs.noteCrash();
        if (incarnation) incarnation.crashed = true;
      },
    });
    super(ctx, env);
    this.#begin = (first, record) => {
      if (incarnation) return;
      incarnation = record;
      crash = first;
    };
  }

  override async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === LEFT_OVER) return Response.json(await readLeftByRun(this.ctx.storage));
    if (pathname !== "/start") return super.fetch(request);
    const { runId, messages } = await request.clone().json<RunClaim>();
    const said = messages.find(({ role }) => role === "user");
    const script = said?.role === "user" ? parseScript(said.text) : undefined;
    if (script) {
      const { crashes } = script;
      const record = planIncarnations(this.ctx.id.toString(), script.id, { runId, crashes });
      const [incarnation] = record.incarnations;
      if (incarnation) this.#begin(crashes[0], incarnation);
    }
    return super.fetch(request);
  }
}

/** The product's tenant with a storage that can crash the object at any write. */
export class TenantObject extends product.TenantObject {
  constructor(ctx: DurableObjectState, env: RawEnv) {
    plantCrashes(ctx, SHARED.tenant);
    super(ctx, env);
  }

  override async fetch(): Promise<Response> {
    return Response.json(readLeftByTenant(this.ctx.storage));
  }
}

/** The product's workspace with the same. */
export class WorkspaceObject extends workspaces.WorkspaceObject {
  constructor(ctx: DurableObjectState, env: RawEnv) {
    plantCrashes(ctx, SHARED.workspaces);
    super(ctx, env);
  }
}

export default {
  async fetch(request: Request, env: RawEnv): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/chaos/incarnations") {
      return Response.json(recordOfScript(searchParams.get("script") ?? "") ?? null);
    }
    const [, shared] = /^\/chaos\/(tenant|runs|workspaces)$/.exec(pathname) ?? [];
    if (shared !== undefined) {
      const crash = SHARED[shared as keyof typeof SHARED];
      if (request.method === "PUT") crash.plan(await request.json<Crash | null>());
      return Response.json(crash.record);
    }
    if (pathname === FILL) {
      const objects = env["TENANTS"] as DurableObjectNamespace;
      const object = objects.get(objects.idFromName(searchParams.get("tenant") ?? ""));
      await fillAudit(object as unknown as TenantMethods, await request.json());
      return new Response(null, { status: 204 });
    }
    if (pathname === "/chaos/record") {
      const kv = env["IDEMPOTENCY"] as KVNamespace;
      const record = await kv.get(`run/${searchParams.get("run")}`);
      return new Response(null, { status: record === null ? 404 : 204 });
    }
    if (pathname === LEFT_OVER) {
      const [binding, name] = searchParams.has("run") ? ["RUNS", "run"] : ["TENANTS", "tenant"];
      const objects = env[binding] as DurableObjectNamespace;
      return objects.get(objects.idFromName(searchParams.get(name) ?? "")).fetch(request);
    }
    return product.worker.fetch(request, env);
  },
};
