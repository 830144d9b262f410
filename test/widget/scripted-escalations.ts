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
    if (id === "") return this.#list(new URL(path, "http://localhost").searchParams);
    const reply = this.onAct?.();
    if (reply) return reply;
    const { action } = JSON.parse(body) as { action: string };
    this.put(id, AFTER[action]);
    return { status: 200, body: this.#all.get(id) ?? {} };
  }

  #list(query: URLSearchParams): Reply {
    const state = query.get("state");
    const escalations = [...this.#all.values()].filter((one) =>
      state === null ? one["state"] !== "settled" : one["state"] === state,
    );
    return { status: 200, body: { escalations } };
  }
}

const AFTER: Readonly<Record<string, JsonObject>> = {
  take: { state: "taken", takenBy: "user:me", actions: ["release", "settle"] },
  release: {},
  settle: { state: "settled", settledBy: "user:me", settledAs: "settled", actions: [] },
};
