import { beforeEachFile } from "./fresh-state.ts";
import { env, exports } from "cloudflare:workers";
import { hashText } from "../../src/protocol/json/canonical-hash.ts";
import type { TenantId } from "../../src/protocol/identity/ids.ts";
import { policyDocumentKey, policyPointerKey } from "../../src/protocol/policy/pin.ts";
import type { RunState } from "../../src/protocol/run/state.ts";
import { ANY_FLOW, GUILD_POLICY } from "../workers/lab-approvals.ts";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { checkDescribed } from "./described-answers.ts";
import { TOKENS } from "./tokens.ts";

export type Caller = keyof typeof TOKENS;

interface TestBindings {
  readonly POLICY: KVNamespace;
  readonly CONNECTIONS: KVNamespace;
  readonly IDEMPOTENCY: KVNamespace;
  readonly RUNS: DurableObjectNamespace;
  readonly TENANTS: DurableObjectNamespace;
  readonly WORKSPACES: DurableObjectNamespace;
  readonly RUN_ID_SECRET: string;
}
export const bindings = env as unknown as TestBindings;

const CORE = ["core__get_current_time", "core__generate_title", "core__calculate"];
const LAB = {
  allowedTools: [
    ...CORE,
    "lab__read_page",
    "lab__write_note",
    "lab__act_and_crash",
    "lab__send_mail",
    "lab__call_service",
    "lab__leak",
    "lab__halves",
    "lab__echo_service",
    "lab__complain",
    "lab__measure",
    "lab__illustrate",
    "lab__list_pages",
    "lab__photograph",
    "lab__recite",
    "lab__flaky",
    "lab__greet",
    "lab__order",
    "lab__revise",
    "lab__copy_out",
    "core__read_result",
    "lab__visit",
    "lab__read_ticket",
    "lab__show_account",
    "lab__pay",
    "lab__book",
    "lab__file",
    "lab__store",
    "lab__send_abroad",
    "lab__post",
    "lab__watch",
  ],
  argumentRules: [{ tool: "lab__write_note", field: "/to", must: { beOneOf: ["ann"] } }],
  ...ANY_FLOW,
  grants: [
    {
      connectionId: "service",
      tools: ["lab__call_service", "lab__echo_service", "lab__show_account", "lab__send_abroad"],
    },
    { connectionId: "number", tools: ["lab__echo_service"] },
  ],
};
/** Origin of the pages that the tenant `hosted` admits. */
export const HOST_PAGE = "https://app.hosted.example";
const POLICIES: Partial<Record<Caller, object>> = {
  archive: LAB,
  acme: { allowedTools: CORE },
  chief: GUILD_POLICY,
  rival: { allowedTools: CORE },
  hosted: {
    allowedTools: CORE,
    requireApprovalForEffects: ["state_change"],
    origins: [HOST_PAGE, "http://localhost:3000"],
    embedMinters: [{ actorId: "service:backend" }],
  },
  strict: {
    allowedTools: ["core__get_current_time", "core__generate_title"],
    requireApprovalForEffects: ["state_change"],
    budgets: { maxSteps: 2 },
  },
  lab: LAB,
};
/** Stored documents that the API refuses. */
const UNSOUND: Partial<Record<Caller, string>> = {
  garbled: '{"allowedTools": "everything"',
  misshapen: JSON.stringify({ allowedTools: CORE, allowEverything: true }),
};

/** Stores the policies of the test tenants. */
export async function seedPolicies(): Promise<void> {
  for (const [tenant, document] of Object.entries(POLICIES)) {
    const response = await putPolicy(document, { caller: tenant as Caller, "if-none-match": "*" });
    if (![200, 412].includes(response.status)) throw new Error(await response.text());
  }
  for (const [tenant, document] of Object.entries(UNSOUND)) {
    const hash = await hashText(document);
    await bindings.POLICY.put(policyDocumentKey(tenant as TenantId, hash), document);
    const pointer = JSON.stringify({ revision: 1, hash });
    await bindings.POLICY.put(policyPointerKey(tenant as TenantId), pointer);
  }
}

/** Puts a JSON body to `/v1/policy`. All options except `caller` are headers. */
export function putPolicy(
  body: unknown,
  { caller = "acme", ...headers }: { caller?: Caller } & Record<string, string>,
): Promise<Response> {
  return send("/v1/policy", {
    caller,
    method: "PUT",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** Replaces the policy of the tenant `bendable`, and every cached copy of it. */
export async function govern(policy: object): Promise<void> {
  const current = await send("/v1/policy", { caller: "bendable" });
  const etag = current.headers.get("etag");
  const condition = etag === null ? { "if-none-match": "*" } : { "if-match": etag };
  const response = await putPolicy(policy, { caller: "bendable", ...condition });
  if (response.status !== 200) throw new Error(await response.text());
}

/** Runs that a request of the test file started or read, by the caller. */
export const startedRuns: { readonly runId: string; readonly caller: Caller }[] = [];
beforeEachFile(() => {
  startedRuns.length = 0;
});

/**
 * Sends a request to the Worker as a client would; `caller` undefined sends no token.
 * Fails: rejects for an answer that the document of the API does not describe.
 */
export async function send(
  path: string,
  init: RequestInit & { caller?: Caller } = {},
): Promise<Response> {
  const { caller, ...rest } = init;
  const headers = new Headers(rest.headers);
  if (caller) headers.set("authorization", `Bearer ${TOKENS[caller].token}`);
  const worker = (exports as unknown as { default: Fetcher }).default;
  const request = new Request(`https://interlock.test${path}`, { ...rest, headers });
  const response = await worker.fetch(request);
  const runId = response.headers.get("x-run-id");
  if (caller && runId !== null) startedRuns.push({ runId, caller });
  await checkDescribed(request, response);
  return response;
}

/** Posts a JSON body to `/v1/chat`. */
export function postChat(body: unknown, caller: Caller = "acme"): Promise<Response> {
  return send("/v1/chat", {
    caller,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** Starts a run in which the model answers with the steps. */
export function chat(steps: readonly ScriptedStep[], caller: Caller = "acme"): Promise<Response> {
  return postChat({ messages: [{ role: "user", content: script(...steps) }] }, caller);
}

export function runIdOf(response: Response): string {
  const runId = response.headers.get("x-run-id");
  if (runId === null) throw new Error(`no run id; status ${response.status}`);
  return runId;
}

export async function stateOf(runId: string, caller: Caller = "acme"): Promise<RunState> {
  const response = await send(`/v1/runs/${runId}`, { caller });
  if (response.status !== 200) throw new Error(`state: ${response.status}`);
  return response.json();
}

/** One event as received: its bytes as text, its id and its decoded chunks. */
export interface WireEvent {
  readonly text: string;
  readonly id: string;
  readonly chunks: readonly WireChunk[];
}
export type WireChunk = Record<string, unknown> & { readonly type: string };

/** Ends the stream of a run that waits for people. */
const TRAILER = /^retry: \d+\ndata: \[DONE\]\n\n$/m;

/** Splits a stream into its events. Each event ends with the frame that has an id. */
export function splitEvents(stream: string): readonly WireEvent[] {
  const events: WireEvent[] = [];
  let text = "";
  for (const frame of stream.replace(TRAILER, "").split(/(?<=\n\n)/)) {
    if (frame.startsWith(":")) continue;
    text += frame;
    const id = /^id: (.*)$/m.exec(frame)?.[1];
    if (id === undefined) continue;
    const chunks = [...text.matchAll(/^data: (\{.*)$/gm)].map(
      ([, json]) => JSON.parse(json ?? "") as WireChunk,
    );
    events.push({ text, id, chunks });
    text = "";
  }
  if (text !== "") throw new Error(`bytes after the last event: ${text}`);
  return events;
}

/** Every chunk of a finished stream, in order. */
export async function chunksOf(response: Response): Promise<readonly WireChunk[]> {
  return splitEvents(await response.text()).flatMap(({ chunks }) => chunks);
}

/** Stores a connection as an operator does. */
export async function putConnection(id: string, body: object, caller: Caller): Promise<void> {
  const response = await send(`/v1/connections/${id}`, {
    caller,
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (response.status !== 204) throw new Error(await response.text());
}
