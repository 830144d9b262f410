import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { createOpenAIModel } from "../src/adapters/openai-model.ts";
import type { Model } from "../src/capabilities/model.ts";
import { nestsTooDeep } from "../src/protocol/json/guard.ts";
import type { ModelAnswer } from "../src/protocol/model/event.ts";
import { parseArguments, type ToolCall } from "../src/protocol/tool/call.ts";

/**
 * Shows how an endpoint's answers are decoded. Reads base URLs from stdin, one per line, and writes
 * one line of JSON for each. Uses the model adapter of the product.
 */
async function main(): Promise<void> {
  const chosen = readArguments();
  if (!chosen) {
    process.stderr.write(
      "usage: npm run -s decode -- --wire openai [--model NAME]   (base URLs on stdin)\n",
    );
    process.exitCode = 2;
    return;
  }
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const url = line.trim();
    if (url === "") continue;
    process.stdout.write(`${JSON.stringify(report(url, await ask(openAI(url), chosen.model)))}\n`);
  }
}

function readArguments(): { readonly model: string } | undefined {
  try {
    const { values } = parseArgs({
      options: { wire: { type: "string" }, model: { type: "string", default: "any" } },
    });
    return values.wire === "openai" ? { model: values.model } : undefined;
  } catch {
    return undefined;
  }
}

function openAI(baseUrl: string): Model {
  const apiKey = process.env["OPENAI_API_KEY"] || "none";
  return createOpenAIModel({ baseUrl, apiKey, fetch: (request) => fetch(request) });
}

async function ask(endpoint: Model, model: string): Promise<ModelAnswer> {
  const request = { model, messages: [{ role: "user", text: "Hello" }], tools: [] } as const;
  for await (const batch of endpoint.stream(request, new AbortController().signal)) {
    const last = batch.at(-1);
    if (last?.type === "answer") return last.answer;
  }
  throw new Error("a model ended without its turn");
}

function report(url: string, { text, toolCalls, finish, usage, failure }: ModelAnswer) {
  return {
    url,
    text,
    toolCalls: toolCalls.map(reportCall),
    finish,
    ...(usage && { usage: { prompt: usage.inputTokens, completion: usage.outputTokens } }),
    ...(failure && { error: failure }),
  };
}

function reportCall(call: ToolCall) {
  const args = nestsTooDeep(call.argumentsText) ? undefined : parseArguments(call);
  return {
    id: call.toolCallId,
    name: call.name,
    arguments: args?.ok ? args.value : { __invalid__: true },
  };
}

await main();
