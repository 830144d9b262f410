import { DurableObject } from "cloudflare:workers";

interface Env {
  readonly OPENAI_BASE_URL: string;
  readonly OBJECTS: DurableObjectNamespace;
}

/** Calls the upstream and passes its body through: the least work of a Durable Object. */
export class PassThroughObject extends DurableObject<Env> {
  override fetch(request: Request): Promise<Response> {
    return fetch(`${this.env.OPENAI_BASE_URL}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: request.body,
    });
  }
}

/** Gives every request its own object, as every run has one. */
export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (request.method === "GET") return new Response("ok");
    const id = env.OBJECTS.newUniqueId();
    return env.OBJECTS.get(id).fetch("https://object/", { method: "POST", body: request.body });
  },
};
