import type { JsonObject } from "../../src/protocol/json/value.ts";
import type { Reply } from "./scripted-approvals.ts";

const ONE = /^\/v1\/consents\/([^/?]+)$/;

/** A fake of the API's consents that last. */
export class ScriptedConsents {
  readonly #all = new Map<string, JsonObject>();

  put(id: string, more: JsonObject = {}): void {
    this.#all.set(id, {
      id,
      state: "active",
      person: "user:me",
      toolId: "desk__tag",
      toolVersion: "1.0.0",
      calls: 9,
      used: 2,
      until: new Date(Date.now() + 86_400_000).toISOString(),
      ...more,
    });
  }

  owns(path: string): boolean {
    return path.startsWith("/v1/consents");
  }

  answer({ path }: { readonly path: string }): Reply {
    const [, id = ""] = ONE.exec(path) ?? [];
    if (id === "") return { status: 200, body: { consents: [...this.#all.values()] } };
    const known = this.#all.get(id);
    if (!known)
      return { status: 404, body: { code: "consent_not_found", title: "There is none." } };
    this.put(id, { ...known, state: "revoked" });
    return { status: 200, body: known };
  }
}
