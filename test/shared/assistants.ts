import { chunksOf, send, type Caller } from "./worker.ts";

/** An assistant as the API answers it. */
export interface AnsweredAssistant {
  readonly id: string;
  readonly revision?: number;
  readonly hash: string;
  readonly assistant: Record<string, unknown>;
}

interface PutOptions {
  readonly caller?: Caller;
  readonly headers?: Record<string, string>;
}

/** Sends an assistant. Without headers the assistant is expected to be new. */
export function sendAssistant(
  id: string,
  document: unknown,
  { caller = "acme", headers = { "if-none-match": "*" } }: PutOptions = {},
): Promise<Response> {
  return send(`/v1/assistants/${id}`, {
    caller,
    method: "PUT",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(document),
  });
}

/** Stores an assistant, whatever its revision is. */
export async function putAssistant(
  id: string,
  document: object,
  caller: Caller = "acme",
): Promise<void> {
  const current = await send(`/v1/assistants/${id}`, { caller });
  const etag = current.headers.get("etag");
  const headers: Record<string, string> = etag ? { "if-match": etag } : { "if-none-match": "*" };
  const response = await sendAssistant(id, document, { caller, headers });
  if (response.status !== 200) throw new Error(await response.text());
}

/** Names the users' and the systems' messages that the provider got, without its settings. */
export function spoken({ messages }: SeenRequest): readonly (readonly [string, string])[] {
  return messages.map(({ role, content }) => [role, content] as const);
}

/** What a provider got: the model, the messages and the names of the tools. */
export interface SeenRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly [setting: string]: unknown;
}

/** Reads what the provider got. The last question of the run must be no script. */
export async function seenBy(response: Response): Promise<SeenRequest> {
  if (response.status !== 200) throw new Error(await response.text());
  const chunks = await chunksOf(response);
  const text = chunks.map(({ type, textDelta }) => (type === "text-delta" ? textDelta : ""));
  return JSON.parse(text.join("")) as SeenRequest;
}
