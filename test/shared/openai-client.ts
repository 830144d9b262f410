import OpenAI from "openai";
import type { Response as ModelResponse } from "openai/resources/responses/responses";
import { send, type Caller } from "./worker.ts";
import { TOKENS } from "./tokens.ts";

/** The client of OpenAI as it is, before a server of the test. It repeats nothing on its own. */
export function openAIBefore(
  answer: (path: string, init?: RequestInit) => Promise<Response>,
  apiKey = "none",
): OpenAI {
  return new OpenAI({
    apiKey,
    baseURL: "https://interlock.test/v1",
    maxRetries: 0,
    dangerouslyAllowBrowser: true,
    fetch: (url, init) => {
      const { pathname, search } = new URL(url instanceof Request ? url.url : url);
      return answer(`${pathname}${search}`, init);
    },
  });
}

/** The client of OpenAI as it is, before the Worker of the tests. */
export function openAIOf(caller: Caller): OpenAI {
  return openAIBefore(send, TOKENS[caller].token);
}

/** The answer of a person to what a response asks. */
export function answerTo(id: string, approve: boolean, more: object = {}) {
  return { type: "mcp_approval_response" as const, approval_request_id: id, approve, ...more };
}

/** The approvals that a response asks for. */
export function askedIn({ output }: Pick<ModelResponse, "output">): readonly string[] {
  return output.flatMap((item) => (item.type === "mcp_approval_request" ? [item.id] : []));
}

/** The words of people and assistants that a model was shown: it repeats a free text. */
export function shownIn(text: string): readonly (readonly [string, unknown])[] {
  const { messages } = JSON.parse(text) as {
    readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  };
  return messages.map(({ role, content }) => [role, content]);
}
