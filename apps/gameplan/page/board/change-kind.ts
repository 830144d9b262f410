import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import type { GraphEdge } from "../graph/graph.ts";
import { numberOf } from "../read-json.ts";
import type { SectionContext } from "../section.ts";
import { keyOf } from "./model.ts";

/**
 * Creates what changes the kind of a dependency. The arrow keys of a list pass the choices between:
 * one call is under way at a time, and the newest choice is sent after it.
 */
export function createKindChanges() {
  const wanted = new Map<string, string>();
  /** Revisions that no read has shown yet. */
  const revisions = new Map<string, number>();
  return {
    /** The board was read. */
    forget: (): void => revisions.clear(),
    /** Answers the result of the last call; undefined when it did not succeed. */
    async change(
      edge: GraphEdge,
      type: string,
      act: SectionContext["act"],
    ): Promise<JsonObject | undefined> {
      const key = keyOf(edge);
      const isUnderWay = wanted.has(key);
      wanted.set(key, type);
      const { row } = edge;
      if (isUnderWay || !row) return {};
      let revision = revisions.get(key) ?? row.revision;
      let done: JsonObject | undefined;
      for (let sent = ""; sent !== wanted.get(key);) {
        sent = wanted.get(key) ?? type;
        done = await act("edit_row", { entity: "dependency", id: row.id, revision, type: sent });
        if (!done) break;
        revision = numberOf(done, "revision");
      }
      wanted.delete(key);
      revisions.set(key, revision);
      return done;
    },
  };
}
