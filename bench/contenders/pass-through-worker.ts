import { DurableObject } from "cloudflare:workers";

interface Env {
  readonly OPENAI_BASE_URL: string;
  readonly OBJECTS: DurableObjectNamespace;
}

/** Asks the upstream and hands its body through, untouched: the least a Durable Object can do. */
export class PassThroughObject extends DurableObject<Env> {
  override fetch(request: Request): Promise<Response> {
    return fetch(`${this.env.OPENAI_BASE_URL}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: request.body,
    });
  }
}

/** Gives every request an object of its own, as every run has one. */
export default {
  fetch(request: Request, env: Env): Promise<Response> {
    const id = env.OBJECTS.newUniqueId();
    return env.OBJECTS.get(id).fetch("https://object/", { method: "POST", body: request.body });
  },
};
