import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { AIChatAgent, type OnChatMessageOptions } from "@cloudflare/ai-chat";
import { routeAgentRequest } from "agents";
import { convertToModelMessages, isStepCount, jsonSchema, streamText, tool } from "ai";
import { currentTime, DESCRIPTION, TIME_SCHEMA } from "./current-time.ts";

interface Env {
  readonly OPENAI_BASE_URL: string;
}

const MAX_STEPS = 30;
const TOOLS = {
  get_current_time: tool({
    description: DESCRIPTION,
    inputSchema: jsonSchema(TIME_SCHEMA),
    execute: ({ timeZone }: { readonly timeZone: string }) => currentTime(timeZone),
  }),
};

/**
 * Cloudflare's agent, as its guide sets it up: it stores the chat and each part of the answer, and
 * its readers can come back.
 */
export class ChatAgent extends AIChatAgent {
  declare protected readonly env: Env;

  override async onChatMessage(_onFinish: unknown, options?: OnChatMessageOptions) {
    const provider = createOpenAICompatible({
      name: "bench",
      baseURL: this.env.OPENAI_BASE_URL,
      apiKey: "bench",
      includeUsage: true,
    });
    const result = streamText({
      model: provider(String(options?.body?.["model"])),
      messages: await convertToModelMessages(this.messages),
      tools: TOOLS,
      stopWhen: isStepCount(MAX_STEPS),
    });
    return result.toUIMessageStreamResponse();
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    return (await routeAgentRequest(request, env)) ?? new Response("ok");
  },
};
