import { script } from "../fakes/scripted-model.ts";
import { type Caller, chunksOf, postChat, putPolicy, send } from "./worker.ts";

/** Replaces the policy of the tenant `studio`, which ada governs, and every cached copy of it. */
export async function governStudio(policy: object, caller: Caller = "ada"): Promise<void> {
  const current = await send("/v1/policy", { caller });
  const etag = current.headers.get("etag");
  const condition = etag === null ? { "if-none-match": "*" } : { "if-match": etag };
  const response = await putPolicy(policy, { caller, ...condition });
  if (response.status !== 200) throw new Error(await response.text());
}

/** A call of a laboratory tool. */
export interface ItemCall {
  readonly caller: Caller;
  readonly tool: "lab__keep_item" | "lab__keep_checked" | "lab__show_items";
  readonly args?: object;
  readonly workspaceId?: string;
  /** The run that this one continues. */
  readonly previousRunId?: string;
}

/** Starts a run whose model calls one tool of the laboratory. */
export function startItemCall(call: ItemCall): Promise<Response> {
  const { caller, tool: name, args = {}, ...more } = call;
  const asked = { id: "call_1", name, args: JSON.stringify(args) };
  const content = script({ calls: [asked] }, { text: ["ok"] });
  const messages = [{ role: "user", content }];
  return postChat({ messages, ...more }, caller);
}

/** Runs a call and answers its observation. */
export async function callItems(call: ItemCall): Promise<Observed> {
  const chunks = await chunksOf(await startItemCall(call));
  const result = chunks.find(({ type }) => type === "result")?.["result"];
  if (result === undefined) throw new Error(JSON.stringify(chunks));
  return result as Observed;
}

/** What the reader of a run sees of a call. */
export interface Observed {
  readonly status: { readonly taxonomy_class: string };
  readonly result_payload: {
    readonly data: { readonly id?: string; readonly items?: readonly Item[] } | null;
    readonly errors: readonly { readonly code: string }[];
  };
}

export interface Item {
  readonly id: string;
  readonly name: string;
  readonly author: string;
}

/** Reads the names of the items that a caller sees. */
export async function itemNames(caller: Caller, workspaceId?: string): Promise<readonly string[]> {
  const named = workspaceId === undefined ? {} : { workspaceId };
  const seen = await callItems({ caller, tool: "lab__show_items", ...named });
  const { items } = seen.result_payload.data ?? {};
  if (!items) throw new Error(JSON.stringify(seen));
  return items.map(({ name }) => name);
}

/** Class and first error code of a failed call. */
export function failureOf({ status, result_payload: { errors } }: Observed): string {
  return [status.taxonomy_class, errors[0]?.code].join(" ");
}
