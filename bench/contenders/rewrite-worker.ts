interface Env {
  readonly OPENAI_BASE_URL: string;
}

/** The part of a Chat Completions chunk that the client gets. */
interface Chunk {
  readonly choices: readonly { readonly delta: { readonly content?: string } }[];
}

const FRAME_START = "data: ";
const END_MARK = "[DONE]";

/**
 * Parses every frame of the provider and writes its text as a frame of another shape: the least
 * work of a Worker that understands what it relays.
 */
export default {
  async fetch(request: Request, env: Env, context: ExecutionContext): Promise<Response> {
    if (request.method === "GET") return new Response("ok");
    const upstream = await fetch(`${env.OPENAI_BASE_URL}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: request.body,
    });
    const { readable, writable } = new IdentityTransformStream();
    if (upstream.body) context.waitUntil(rewrite(upstream.body, writable));
    return new Response(readable, { headers: { "content-type": "text/event-stream" } });
  },
};

/** Works once per read, not once per frame. */
async function rewrite(body: ReadableStream<Uint8Array>, to: WritableStream): Promise<void> {
  const reader = body.getReader();
  const writer = to.getWriter();
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = "";
  for (;;) {
    const { value } = await reader.read();
    if (!value) break;
    const frames = (rest + decoder.decode(value, { stream: true })).split("\n\n");
    rest = frames.pop() ?? "";
    await writer.write(encoder.encode(frames.map(rewriteFrame).join("")));
  }
  await writer.close();
}

function rewriteFrame(frame: string): string {
  const data = frame.slice(FRAME_START.length);
  if (data === END_MARK) return `${frame}\n\n`;
  const text = (JSON.parse(data) as Chunk).choices[0]?.delta.content ?? "";
  return `data: ${JSON.stringify({ type: "text-delta", text })}\n\n`;
}
