import { DurableObject } from "cloudflare:workers";

interface Env {
  readonly OPENAI_BASE_URL: string;
  readonly OBJECTS: DurableObjectNamespace<SketchObject>;
}

/** An object whose run is still claimed this long afterwards has lost its loop. Unit: ms. */
const RECOVER_AFTER_MS = 60_000;
const PLACE = "data: ";

/**
 * The least that keeps a run: one object for each, two tables, a claim stored before the model is
 * asked, the first words stored before they are shown, the end stored, and an alarm that would
 * recover it. It decodes the provider's frames and writes its own, and checks nothing.
 */
export class SketchObject extends DurableObject<Env> {
  async run(body: string): Promise<Response> {
    const { sql } = this.ctx.storage;
    sql.exec("CREATE TABLE run (state TEXT, request TEXT)");
    sql.exec("CREATE TABLE log (id INTEGER PRIMARY KEY, text TEXT)");
    sql.exec("INSERT INTO run VALUES ('claimed', ?)", body);
    void this.ctx.storage.setAlarm(Date.now() + RECOVER_AFTER_MS);
    await this.ctx.storage.sync();
    const answer = await fetch(`${this.env.OPENAI_BASE_URL}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    this.ctx.waitUntil(this.#relay(answer, writable.getWriter()));
    return new Response(readable, { headers: { "content-type": "text/event-stream" } });
  }

  async #relay(answer: Response, writer: WritableStreamDefaultWriter<Uint8Array>): Promise<void> {
    const { sql } = this.ctx.storage;
    const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
    let [rest, unstored, isFirst] = ["", "", true];
    for await (const chunk of answer.body ?? []) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      const texts = lines.map(textOf).filter((text) => text !== "");
      unstored += texts.join("");
      if (isFirst && texts.length > 0) {
        sql.exec("INSERT INTO log (text) VALUES (?)", unstored);
        await this.ctx.storage.sync();
        [unstored, isFirst] = ["", false];
      }
      if (texts.length > 0) await writer.write(encoder.encode(texts.map(frameOf).join("")));
    }
    sql.exec("INSERT INTO log (text) VALUES (?)", unstored);
    sql.exec("UPDATE run SET state = 'ended'");
    await this.ctx.storage.sync();
    await writer.write(encoder.encode('data: {"type":"end"}\n\n'));
    await writer.close();
  }

  override alarm(): void {
    this.ctx.storage.sql.exec("UPDATE run SET state = 'lost' WHERE state = 'claimed'");
  }
}

interface Chunk {
  readonly choices: readonly { readonly delta?: { readonly content?: string } }[];
}

function textOf(line: string): string {
  if (!line.startsWith(`${PLACE}{`)) return "";
  const { choices } = JSON.parse(line.slice(PLACE.length)) as Chunk;
  return choices[0]?.delta?.content ?? "";
}

function frameOf(text: string): string {
  return `${PLACE}${JSON.stringify({ type: "text", text })}\n\n`;
}

/** Gives every request its own object, as every run has one. */
export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (request.method === "GET") return new Response("ok");
    const object = env.OBJECTS.get(env.OBJECTS.newUniqueId());
    return object.run(await request.text());
  },
};
