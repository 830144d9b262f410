import { randomUUID } from "node:crypto";
import { modelOf, type Scenario } from "./upstream/scenario.ts";

/** The two messages of Cloudflare's agent that a chat takes. */
const REQUEST = "cf_agent_use_chat_request";
const RESPONSE = "cf_agent_use_chat_response";

interface SocketMessage {
  readonly type: string;
  readonly id?: string;
  /** One part of the answer, as JSON. */
  readonly body?: string;
  readonly done?: boolean;
  readonly error?: boolean;
}

/** A chat of Cloudflare's agent, and everything that was said in it, as its client sends it. */
export interface SocketChat {
  readonly name: string;
  readonly messages: readonly unknown[];
}

/** Makes a message of a person. */
export function socketMessage(text: string): unknown {
  return { id: randomUUID(), role: "user", parts: [{ type: "text", text }] };
}

function newChat(): SocketChat {
  return { name: randomUUID(), messages: [socketMessage("What time is it?")] };
}

/**
 * Goes on with a chat of Cloudflare's agent, by default with a new one in an object of its own, and
 * passes on each part of the answer, until its end. The connection is part of it, as with the
 * others.
 */
export function readSocketChat(
  { port, chat = newChat() }: { readonly port: number; readonly chat?: SocketChat },
  scenario: Scenario,
  onChunk: (chunk: Buffer) => void,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = new WebSocket(`ws://127.0.0.1:${port}/agents/chat-agent/${chat.name}`);
  const id = randomUUID();
  socket.addEventListener("open", () => socket.send(requestOf(id, scenario, chat)));
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data)) as SocketMessage;
    if (message.type !== RESPONSE || message.id !== id) return;
    if (message.error) reject(new Error(`the agent failed: ${message.body}`));
    if (message.body) onChunk(Buffer.from(message.body));
    if (!message.done) return;
    resolve();
    socket.close();
  });
  socket.addEventListener("error", () => reject(new Error(`port ${port} broke off`)));
  return promise;
}

function requestOf(id: string, scenario: Scenario, { messages }: SocketChat): string {
  const body = { messages, trigger: "submit-message", model: modelOf(scenario) };
  return JSON.stringify({
    id,
    init: { method: "POST", body: JSON.stringify(body) },
    type: REQUEST,
  });
}
