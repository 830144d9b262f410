import { HttpAgent, type Interrupt } from "@ag-ui/client";
import { HttpAgent as FormerAgent } from "ag-ui-client-0";
import { send, type Caller } from "./worker.ts";

/** The clients that people have: the newest one, and the one that CopilotKit pins. */
export const AGENTS = { "1.0.0": HttpAgent, "0.0.59": FormerAgent } as const;
export type AgentVersion = keyof typeof AGENTS;

/** A client of AG-UI, and what it saw. */
export interface AgUiChat {
  readonly agent: HttpAgent;
  /** Events in their order, as the client read and checked them. */
  readonly events: { readonly type: string; readonly [field: string]: unknown }[];
  /** The bodies of its posts. */
  readonly posted: string[];
}

/** Opens a client whose posts go to `post`. */
export function openAgUi(
  version: AgentVersion,
  post: (body: string) => Promise<Response>,
  threadId?: string,
): AgUiChat {
  const posted: string[] = [];
  const events: AgUiChat["events"] = [];
  const agent = new AGENTS[version]({
    url: "https://interlock.test/agui",
    ...(threadId !== undefined && { threadId }),
    fetch: async (_url: string, init?: RequestInit) => {
      const body = typeof init?.body === "string" ? init.body : "";
      posted.push(body);
      return cutBy(await post(body), init?.signal ?? undefined);
    },
  }) as HttpAgent;
  agent.subscribe({ onEvent: ({ event }) => void events.push(event) });
  return { agent, events, posted };
}

/** Cuts a stream as a lost connection does. */
function cutBy(response: Response, signal: AbortSignal | undefined): Response {
  const reader = response.body?.getReader();
  const whole = new ReadableStream<Uint8Array>({
    start: (controller) =>
      signal?.addEventListener("abort", () => {
        controller.error(new DOMException("cut", "AbortError"));
        reader?.cancel().catch(() => undefined);
      }),
    async pull(controller) {
      const read = await reader?.read();
      if (signal?.aborted) return;
      if (read?.value) controller.enqueue(read.value);
      else controller.close();
    },
  });
  return new Response(whole, response);
}

/** Posts to `/agui` as a client does. */
export function postAgUi(body: string, caller: Caller): Promise<Response> {
  return send("/agui", {
    caller,
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
}

/** Answers every open question of a client with the same payload. */
export function answerAll(
  interrupts: readonly Interrupt[],
  payload: object,
): { interruptId: string; status: "resolved"; payload: object }[] {
  return interrupts.map(({ id }) => ({ interruptId: id, status: "resolved", payload }));
}
