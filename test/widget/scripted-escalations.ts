import type { JsonObject } from "../../src/protocol/json/value.ts";
import type { Reply } from "./scripted-approvals.ts";

const ONE = /^\/v1\/escalations\/([^/?]+)$/;

/** A fake of the API's escalations. */
export class ScriptedEscalations {
  readonly #all = new Map<string, JsonObject>();
  /** When set, this answers what people do instead. */
  onAct: (() => Reply) | undefined;

  put(id: string, more: JsonObject = {}): void {
    this.#all.set(id, {
      id,
      reason: "broken_output",
      state: "open",
      runId: "run_a",
      toolId: "desk__open_ticket",
      owner: "desk team",
      requestedBy: "user:cleo",
      count: 2,
      openedAt: new Date(Date.now() - 60_000).toISOString(),
      actions: ["take", "settle"],
      ...more,
    });
  }

  owns(path: string): boolean {
    return path.startsWith("/v1/escalations");
  }

  answer({ path, body }: { readonly path: string; readonly body: string }): Reply {
    const [, id = ""] = ONE.exec(path) ?? [];
    if (id === "") return { status: 200, body: { escalations: [...this.#all.values()] } };
    const reply = this.onAct?.();
    if (reply) return reply;
    const { action } = JSON.parse(body) as { action: string };
    if (action === "settle") this.#all.delete(id);
    if (action === "take") this.put(id, { takenBy: "user:me", actions: ["release", "settle"] });
    if (action === "release") this.put(id);
    return { status: 200, body: { id } };
  }
}
