import type { JsonObject } from "../../src/protocol/json/value.ts";
import type { Reply } from "./scripted-approvals.ts";

const RETRY = /^\/v1\/notifications\/([^/?]+)\/retry$/;

/** A fake of the API's notifications that were not delivered. */
export class ScriptedNotifications {
  readonly #all = new Map<string, JsonObject>();

  put(id: string, more: JsonObject = {}): void {
    this.#all.set(id, {
      id,
      type: "approval.requested",
      runId: "run_a",
      state: "dead",
      queuedAt: new Date(Date.now() - 60_000).toISOString(),
      attempts: 8,
      failure: "status_503",
      ...more,
    });
  }

  owns(path: string): boolean {
    return path.startsWith("/v1/notifications");
  }

  answer({ path }: { readonly path: string }): Reply {
    const [, id = ""] = RETRY.exec(path) ?? [];
    if (id !== "") this.#all.delete(id);
    return id === ""
      ? { status: 200, body: { notifications: [...this.#all.values()] } }
      : { status: 202, body: {} };
  }
}
