import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { isStepCount, jsonSchema, streamText, tool } from "ai";
import { currentTime, DESCRIPTION, TEXT_SCHEMA, TIME_SCHEMA } from "./current-time.ts";

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
  take_text: tool({
    description: "Takes a text.",
    inputSchema: jsonSchema(TEXT_SCHEMA),
    execute: ({ text }: { readonly text: string }) => ({ chars: text.length }),
  }),
};

/** The same loop with the AI SDK, as its guides write it. It stores and checks nothing. */
export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (request.method === "GET") return new Response("ok");
    const { model, messages } = await request.json<{ model: string; messages: object[] }>();
    const provider = createOpenAICompatible({
      name: "bench",
      baseURL: env.OPENAI_BASE_URL,
      apiKey: "bench",
      includeUsage: true,
    });
    const result = streamText({
      model: provider(model),
      messages,
      tools: TOOLS,
      stopWhen: isStepCount(MAX_STEPS),
    });
    return result.toUIMessageStreamResponse();
  },
};
