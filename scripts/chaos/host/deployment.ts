import { createHash } from "node:crypto";
import { join } from "node:path";
import { bundleEntry } from "../../bundle-entry.ts";
import { PACKAGE_FOLDER } from "../../../cli/project/folders.ts";
import { readWorkerBindings } from "../../../cli/project/worker-bundle.ts";
import { ROOT_SECRET, VERIFIED_TENANT } from "./key-fingerprint.ts";
import {
  CRASH_MODES,
  LASTING_CALLS,
  SAGA_TOOLS,
  TEAM_TOOLS,
  TOOL_OF,
  UNDO_TOOLS,
} from "../world/scenario.ts";

/** Tenants of the deployment, and the token of a caller of each. */
export const TOKENS = { [VERIFIED_TENANT]: "token-of-chaos", other: "token-of-other" } as const;
/** Approvers of the verified tenant, and their tokens. */
export const APPROVERS = { ann: "token-of-ann", bob: "token-of-bob" } as const;
/** Members of the team whose rows are deleted while they decide, and their tokens. */
export const MEMBERS = { dan: "token-of-dan", eve: "token-of-eve", leo: "token-of-leo" } as const;
/** The workspace of the team. */
export const TEAM = "team";
/** Time that an operator has to resolve an unknown outcome. */
const OUTCOME_WAIT_SECONDS = 3;
/** Size at which the audit log of a tenant is closed: that of a few runs. */
export const SEGMENT_BYTES = 10_000;
const SCOPES = [
  "chat:system",
  "chat",
  "runs:read",
  "runs:operate",
  "policy:write",
  "approvals:read",
  "audit:read",
];
/** One model on each wire, as `MODELS` lists them. */
const WIRE_MODELS = ["chaos", "responses:chaos-r", "anthropic:chaos-a"];
/** The ids of these models. */
export const MODEL_IDS = WIRE_MODELS.map((listed) => listed.slice(listed.indexOf(":") + 1));
/** The pages that `npm run build` makes. */
const PAGES = join(PACKAGE_FOLDER, "dist/public");
const WORKER = join(import.meta.dirname, "../worker/chaos-worker.ts");

/**
 * Everything that a host needs to run a Worker. Plain data, so that another process can receive it.
 */
export interface Deployment {
  /** Source file of the Worker, for hosts that bundle it themselves. */
  readonly entry: string;
  readonly code: string;
  readonly compatibilityDate: string;
  /** Variables and secrets by the name of their binding. */
  readonly texts: Readonly<Record<string, string>>;
  readonly kv: readonly string[];
  /** Class of each Durable Object by the name of its binding. */
  readonly objects: Readonly<Record<string, string>>;
  readonly assets: string;
  /** The loopback address that answers for a public host, by its name. Absent: none does. */
  readonly hosts?: Readonly<Record<string, string>>;
  /** Directory of the pages that the Worker serves. Absent: it serves none. */
  readonly pages?: string;
}

/** Bundles the chaos Worker. */
export function bundleChaosWorker(): Promise<string> {
  return bundleEntry(WORKER, { minify: false });
}

/** Configures the bundled Worker for one world. */
export function planDeployment(code: string, worldUrl: string): Deployment {
  const { compatibilityDate, texts, kv, objects, assets } = readWorkerBindings(PACKAGE_FOLDER);
  const callers = Object.entries(TOKENS).map(([tenantId, token]) => ({
    sha256: hashOf(token),
    tenantId,
    actorId: "user:chaos",
    scopes: [...SCOPES, "approvals:decide"],
  }));
  const approvers = Object.entries(APPROVERS).map(([name, token]) => ({
    sha256: hashOf(token),
    tenantId: VERIFIED_TENANT,
    actorId: `user:${name}`,
    scopes: ["approvals:decide"],
    roles: ["approver"],
  }));
  const members = Object.entries(MEMBERS).map(([name, token]) => ({
    sha256: hashOf(token),
    tenantId: VERIFIED_TENANT,
    actorId: `user:${name}`,
    scopes: ["chat", "runs:read", "approvals:decide"],
  }));
  return {
    entry: WORKER,
    code,
    compatibilityDate,
    texts: {
      ...texts,
      RUN_ID_SECRET: ROOT_SECRET,
      OPENAI_BASE_URL: `${worldUrl}/v1`,
      ANTHROPIC_BASE_URL: `${worldUrl}/v1`,
      ANTHROPIC_API_KEY: "key-of-chaos",
      MODELS: WIRE_MODELS.join(","),
      API_TOKENS: JSON.stringify([...callers, ...approvers, ...members]),
      CONNECTION_KEYS: JSON.stringify([{ id: "chaos", key: Buffer.alloc(32).toString("base64") }]),
      AUDIT_SEGMENT_BYTES: String(SEGMENT_BYTES),
      OUTCOME_WAIT_SECONDS: String(OUTCOME_WAIT_SECONDS),
      CHAOS_WORLD: worldUrl,
    },
    kv,
    objects: { ...objects, WORKSPACES: "WorkspaceObject" },
    assets,
    pages: PAGES,
  };
}

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/** The policy of every tenant, with these members of the team. */
export const policyOf = (members: readonly string[]) => ({
  allowedTools: [
    ...Object.values(TOOL_OF),
    ...UNDO_TOOLS,
    ...SAGA_TOOLS,
    "chaos__keep",
    "chaos__compare",
    ...TEAM_TOOLS,
  ],
  workspaces: {
    ...Object.fromEntries(CRASH_MODES.map((id) => [id, { actors: ["user:chaos"] }])),
    [TEAM]: { actors: members.map((name) => `user:${name}`) },
  },
  approvals: [
    { tools: [TOOL_OF.approved], pattern: "dual_control", roles: ["approver"] },
    {
      tools: [TOOL_OF.asked],
      pattern: "user_consent",
      lasting: { maxCalls: LASTING_CALLS, maxSeconds: 3_600, sameFields: [] },
    },
  ],
  budgets: { maxSteps: 50, maxCritical: 1, maxExternal: 0 },
  budgetRaises: { upTo: { maxExternal: 100 }, roles: ["approver"] },
  tenantBudgets: { maxCritical: 1_000 },
});

/** Allows the chaos tools for every tenant. An existing policy stays. */
export async function seedPolicies(url: string): Promise<void> {
  for (const token of Object.values(TOKENS)) {
    const answer = await fetch(`${url}/v1/policy`, {
      method: "PUT",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "if-none-match": "*",
      },
      body: JSON.stringify(policyOf(Object.keys(MEMBERS))),
    });
    if (!answer.ok && answer.status !== 412) throw new Error(await answer.text());
    await answer.arrayBuffer();
  }
}
