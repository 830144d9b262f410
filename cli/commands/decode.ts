import { readFileSync } from "node:fs";
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
import { type Command, CommandError, messageOf, parsing, UsageError } from "../command.ts";
import { parseArguments, type ToolCall } from "../../src/protocol/tool/call.ts";

/**
 * Shows how the model adapter of the product decodes answers. Reads recorded answers from the files
 * named, or without files asks the endpoints whose base URLs stand on stdin, one per line. Prints
 * one line of JSON for each answer. Fails: throws a UsageError or a CommandError.
 */
async function decodeAll(args: string[]): Promise<void> {
  const { files, ...chosen } = readArguments(args);
  for (const file of files) {
    const body = readRecorded(file);
    const recorded = (): Promise<Response> => Promise.resolve(new Response(body));
    const answer = await ask(endpoint(RECORDED_URL, chosen, recorded), chosen.model);
    process.stdout.write(`${JSON.stringify({ file, ...report(answer) })}\n`);
  }
  if (files.length > 0) return;
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const url = line.trim();
    if (url === "") continue;
    const answer = await ask(endpoint(url, chosen, fetch), chosen.model);
    process.stdout.write(`${JSON.stringify({ url, ...report(answer) })}\n`);
  }
}

const WIRES: ReadonlyMap<string, ModelWire> = new Map(
  [openAIWire, responsesWire, anthropicWire].map((wire) => [wire.id, wire]),
);

interface Asked {
  readonly wire: ModelWire;
  readonly model: string;
}

/** Where a recorded answer came from does not matter to its decoder. */
const RECORDED_URL = "http://recorded.invalid";

/** Reads the recorded body of an answer. Fails: throws a CommandError. */
function readRecorded(file: string): Buffer<ArrayBuffer> {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${messageOf(error)}`);
  }
}

function readArguments(args: string[]): Asked & { readonly files: readonly string[] } {
  const model = { type: "string", default: "any" } as const;
  const options = { wire: { type: "string" }, model } as const;
  const { values, positionals: files } = parsing(() =>
    parseArgs({ args, options, allowPositionals: true }),
  );
  const wire = WIRES.get(values.wire ?? "");
  if (!wire) throw new UsageError("--wire is needed.");
  if (files.some((file) => file.includes("://"))) {
    throw new UsageError("Base URLs stand on stdin, one per line.");
  }
  return { wire, model: values.model, files };
}

function endpoint(
  baseUrl: string,
  { wire, model }: Asked,
  send: (request: Request) => Promise<Response>,
): Model {
  const owner = wire.id === "anthropic" ? "ANTHROPIC" : "OPENAI";
  const apiKey = process.env[`${owner}_API_KEY`] || "none";
  const declared = declareModel({ id: model, wire: wire.id });
  return createHttpModel({ model: declared, wire, baseUrl, apiKey, fetch: send });
}

async function ask(endpoint: Model, model: string): Promise<ModelAnswer> {
  const request = { model, messages: [{ role: "user", text: "Hello" }], tools: [] } as const;
  for await (const batch of endpoint.stream(request, new AbortController().signal)) {
    const last = batch.at(-1);
    if (last?.type === "answer") return last.answer;
  }
  throw new Error("a model ended without its turn");
}

function report({ text, toolCalls, finish, usage, failure }: ModelAnswer) {
  return {
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
  usage:
    `Usage: interlock decode --wire ${[...WIRES.keys()].join("|")} [--model NAME] [FILE ...]\n` +
    "Shows how answers are decoded: those recorded in files, as `curl --no-buffer` writes them,\n" +
    "or without files those of the endpoints whose base URLs stand on stdin, one per line.",
  run: decodeAll,
};
