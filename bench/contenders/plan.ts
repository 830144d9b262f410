import { createHash } from "node:crypto";
import { PACKAGE_FOLDER } from "../../cli/project/folders.ts";
import { readWorkerBindings } from "../../cli/project/worker-bundle.ts";
import { hashText } from "../../src/protocol/json/canonical-hash.ts";
import type { TenantId } from "../../src/protocol/identity/ids.ts";
import { policyDocumentKey, policyPointerKey } from "../../src/protocol/policy/pin.ts";
import { bundleContender } from "./bundle.ts";
import { modelOf, SCENARIOS } from "../upstream/scenario.ts";

/** Workers that relay an answer and store nothing, and Interlock. */
export const RELAYS = ["interlock", "passThrough", "rewrite", "honoOpenai", "aiSdk"] as const;
/** All of them, those too that store what they relay. */
export const CONTENDERS = [...RELAYS, "sketch", "cloudflareAgent"] as const;
export type ContenderName = (typeof CONTENDERS)[number];

/** Everything needed to run one Worker. Plain data, so that another process can receive it. */
export interface ContenderPlan {
  readonly code: string;
  readonly compatibilityDate: string;
  readonly texts: Readonly<Record<string, string>>;
  /** Class of each Durable Object by the name of its binding. */
  readonly objects: Readonly<Record<string, string>>;
  /** Entries of each KV namespace by the name of its binding. */
  readonly kv: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Bindings that answer 404 to every request. */
  readonly emptyServices: readonly string[];
  readonly flags?: readonly string[];
  /** It is Cloudflare's agent, so it is asked over its socket. */
  readonly isAgent?: boolean;
}

/** Bearer token that every request carries; only Interlock looks at it. */
export const TOKEN = "bench-token";
const TENANT = "bench";

/** Bundles every contender, minified, to run against one upstream. */
export async function planContenders(
  upstreamUrl: string,
): Promise<Readonly<Record<ContenderName, ContenderPlan>>> {
  const bindings = readWorkerBindings(PACKAGE_FOLDER);
  const { compatibilityDate } = bindings;
  const texts = { OPENAI_BASE_URL: upstreamUrl };
  const bare = { compatibilityDate, texts, objects: {}, kv: {}, emptyServices: [] };
  return {
    interlock: {
      code: await bundleContender("interlock-worker.ts"),
      compatibilityDate,
      texts: { ...bindings.texts, ...texts, ...interlockSettings() },
      objects: { RUNS: "RunObject", TENANTS: "TenantObject" },
      kv: { ...Object.fromEntries(bindings.kv.map((name) => [name, {}])), POLICY: await policy() },
      emptyServices: [bindings.assets],
    },
    passThrough: {
      ...bare,
      code: await bundleContender("pass-through-worker.ts"),
      objects: { OBJECTS: "PassThroughObject" },
    },
    rewrite: {
      ...bare,
      code: await bundleContender("rewrite-worker.ts"),
    },
    honoOpenai: {
      ...bare,
      code: await bundleContender("hono-openai-worker.ts"),
    },
    aiSdk: {
      ...bare,
      code: await bundleContender("ai-sdk-worker.ts"),
    },
    sketch: {
      ...bare,
      code: await bundleContender("sketch-worker.ts"),
      objects: { OBJECTS: "SketchObject" },
    },
    cloudflareAgent: {
      ...bare,
      code: await bundleContender("agent-worker.ts"),
      objects: { ChatAgent: "ChatAgent" },
      flags: ["nodejs_compat"],
      isAgent: true,
    },
  };
}

function interlockSettings(): Record<string, string> {
  const sha256 = createHash("sha256").update(TOKEN).digest("hex");
  const caller = { sha256, tenantId: TENANT, actorId: "service:bench", scopes: ["chat"] };
  return {
    MODELS: Object.values(SCENARIOS).map(modelOf).join(","),
    API_TOKENS: JSON.stringify([caller]),
    CONNECTION_KEYS: JSON.stringify([{ id: "bench", key: Buffer.alloc(32).toString("base64") }]),
  };
}

/** Allows the core tools, and enough steps for the longest chain. */
async function policy(): Promise<Record<string, string>> {
  const allowedTools = ["core__get_current_time", "core__generate_title", "core__calculate"];
  const document = JSON.stringify({ allowedTools, budgets: { maxSteps: 50 } });
  const hash = await hashText(document);
  const tenantId = TENANT as TenantId;
  return {
    [policyDocumentKey(tenantId, hash)]: document,
    [policyPointerKey(tenantId)]: JSON.stringify({ revision: 1, hash }),
  };
}
