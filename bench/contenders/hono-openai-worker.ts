import { Hono } from "hono";
import { streamSSE, type SSEStreamingApi } from "hono/streaming";
import OpenAI from "openai";
import { currentTime, DESCRIPTION, TEXT_SCHEMA, TIME_SCHEMA } from "./current-time.ts";
import type {
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from "openai/resources/chat/completions";

interface ChatRequest {
  readonly model: string;
  readonly messages: ChatCompletionMessageParam[];
}

const MAX_STEPS = 30;
const TOOLS: ChatCompletionTool[] = [
  {
    type: "function",
    function: { name: "get_current_time", description: DESCRIPTION, parameters: TIME_SCHEMA },
  },
  {
    type: "function",
    function: { name: "take_text", description: "Takes a text.", parameters: TEXT_SCHEMA },
  },
];

const app = new Hono<{ Bindings: { OPENAI_BASE_URL: string } }>();

app.get("/healthz", (c) => c.text("ok"));

/** The loop that a good engineer writes by hand: streams, runs tools, stores and checks nothing. */
app.post("/v1/chat", async (c) => {
  const { model, messages } = await c.req.json<ChatRequest>();
  const client = new OpenAI({ baseURL: c.env.OPENAI_BASE_URL, apiKey: "bench" });
  return streamSSE(c, async (sse) => {
    const abort = new AbortController();
    sse.onAbort(() => abort.abort());
    for (let step = 0; step < MAX_STEPS; step++) {
      const stream = await client.chat.completions.create(
        { model, messages, tools: TOOLS, stream: true, stream_options: { include_usage: true } },
        { signal: abort.signal },
      );
      const { text, calls } = await relay(stream, sse);
      if (calls.length === 0) break;
      messages.push({ role: "assistant", content: text, tool_calls: calls });
      for (const call of calls) messages.push(await runTool(call, sse));
    }
    await sse.writeSSE({ data: "[DONE]" });
  });
});

type Completion = Awaited<ReturnType<OpenAI["chat"]["completions"]["create"]>>;
type CompletionStream = Extract<Completion, AsyncIterable<unknown>>;

/** Forwards each delta of text, and assembles the tool calls. */
async function relay(stream: CompletionStream, sse: SSEStreamingApi) {
  let text = "";
  const calls: ChatCompletionMessageFunctionToolCall[] = [];
  for await (const chunk of stream) {
    const delta = chunk.choices[0]?.delta;
    if (delta?.content) {
      text += delta.content;
      await sse.writeSSE({ data: JSON.stringify({ type: "text-delta", text: delta.content }) });
    }
    for (const { index, id, function: part } of delta?.tool_calls ?? []) {
      const call = (calls[index] ??= {
        id: id ?? "",
        type: "function",
        function: { name: part?.name ?? "", arguments: "" },
      });
      call.function.arguments += part?.arguments ?? "";
    }
  }
  return { text, calls };
}

async function runTool(
  { id, function: { name, arguments: text } }: ChatCompletionMessageFunctionToolCall,
  sse: SSEStreamingApi,
): Promise<ChatCompletionMessageParam> {
  const args = JSON.parse(text) as { timeZone?: string; text?: string };
  await sse.writeSSE({ data: JSON.stringify({ type: "tool-call", id, name, args }) });
  const result =
    name === "take_text" ? { chars: args.text?.length } : currentTime(args.timeZone ?? "UTC");
  await sse.writeSSE({ data: JSON.stringify({ type: "tool-result", id, result }) });
  return { role: "tool", tool_call_id: id, content: JSON.stringify(result) };
}

export default app;
