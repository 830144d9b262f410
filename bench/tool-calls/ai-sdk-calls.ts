import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { generateText, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import type { MakeCall } from "./interlock-calls.ts";
import { DESCRIPTION, ORDER, orderInput } from "./order-tool.ts";

const tools = {
  orders__place: tool({
    description: DESCRIPTION,
    inputSchema: toStandardJsonSchema(orderInput),
    execute: () => ORDER,
  }),
};

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/**
 * Starts a model that calls the tool once in each step of `generateText`. A step assembles the
 * request, parses and validates the call, runs the tool and makes messages of both.
 */
export function startToolTurns(): MakeCall {
  let input = "";
  let serial = 0;
  const model = new MockLanguageModelV4({
    doGenerate: async () => ({
      content: [
        { type: "tool-call", toolCallId: `call_${++serial}`, toolName: "orders__place", input },
      ],
      finishReason: { unified: "tool-calls", raw: undefined },
      usage,
      warnings: [],
    }),
  });
  return async (argumentsText) => {
    input = argumentsText;
    const { toolResults } = await generateText({ model, tools, prompt: "Place my order." });
    if (toolResults[0]?.output !== ORDER) throw new Error("the tool did not run");
  };
}

/** Starts a model that is offered the same tool and answers each step with text. */
export function startTextTurns(): MakeCall {
  const model = new MockLanguageModelV4({
    doGenerate: async () => ({
      content: [{ type: "text", text: "Which order?" }],
      finishReason: { unified: "stop", raw: undefined },
      usage,
      warnings: [],
    }),
  });
  return async () => {
    const { toolResults } = await generateText({ model, tools, prompt: "Place my order." });
    if (toolResults.length > 0) throw new Error("a tool ran");
  };
}
