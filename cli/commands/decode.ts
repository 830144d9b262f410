import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { createHttpModel } from "../../src/adapters/model/http-model.ts";
import type { Model } from "../../src/capabilities/model.ts";
import { nestsTooDeep } from "../../src/protocol/json/guard.ts";
import { declareModel } from "../../src/protocol/model/declare-model.ts";
import type { ModelAnswer, ModelFinish } from "../../src/protocol/model/event.ts";
import { anthropicWire } from "../../src/wire/anthropic/wire.ts";
import type { ModelWire } from "../../src/wire/model/model-wire.ts";
import { openAIWire } from "../../src/wire/openai/wire.ts";
import { responsesWire } from "../../src/wire/responses/wire.ts";
import { type Command, parsing, UsageError } from "../command.ts";
import { parseArguments, type ToolCall } from "../../src/protocol/tool/call.ts";

/**
 * Shows how an endpoint's answers are decoded. Reads base URLs from stdin, one per line, and writes
 * one line of JSON for each. Uses the model adapter of the product.
 */
async function decodeAll(args: string[]): Promise<void> {
  const chosen = readArguments(args);
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const url = line.trim();
    if (url === "") continue;
    const answer = await ask(endpoint(url, chosen), chosen.model);
    process.stdout.write(`${JSON.stringify(report(url, answer))}\n`);
  }
}

const WIRES: ReadonlyMap<string, ModelWire> = new Map(
  [openAIWire, responsesWire, anthropicWire].map((wire) => [wire.id, wire]),
);

interface Asked {
  readonly wire: ModelWire;
  readonly model: string;
}

function readArguments(args: string[]): Asked {
  const model = { type: "string", default: "any" } as const;
  const options = { wire: { type: "string" }, model } as const;
  const { values } = parsing(() => parseArgs({ args, options }));
  const wire = WIRES.get(values.wire ?? "");
  if (!wire) throw new UsageError("--wire is needed.");
  return { wire, model: values.model };
}

function endpoint(baseUrl: string, { wire, model }: Asked): Model {
  const owner = wire.id === "anthropic" ? "ANTHROPIC" : "OPENAI";
  const apiKey = process.env[`${owner}_API_KEY`] || "none";
  const declared = declareModel({ id: model, wire: wire.id });
  const fetcher = (request: Request): Promise<Response> => fetch(request);
  return createHttpModel({ model: declared, wire, baseUrl, apiKey, fetch: fetcher });
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
    finish: COARSE[finish] ?? finish,
    ...(COARSE[finish] && { reason: finish }),
    ...(usage && { usage: { prompt: usage.inputTokens, completion: usage.outputTokens } }),
    ...(failure && { error: failure }),
  };
}

/** Finishes that other clients know by a wider word; `reason` holds the exact word. */
const COARSE: { readonly [Finish in ModelFinish]?: string } = {
  refusal: "content_filter",
  context_window: "length",
};

function reportCall(call: ToolCall) {
  const args = nestsTooDeep(call.argumentsText) ? undefined : parseArguments(call);
  return {
    id: call.toolCallId,
    name: call.name,
    arguments: args?.ok ? args.value : { __invalid__: true },
  };
}

export const command: Command = {
  usage: `Usage: interlock decode --wire ${[...WIRES.keys()].join("|")} [--model NAME]   (base URLs on stdin)`,
  run: decodeAll,
};
