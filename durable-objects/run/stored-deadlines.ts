import type { DeadlineSet, RunDeadline, StoredDeadlines } from "../deadlines.ts";

/** The deadlines of a run, in its row. A change stores the last delivered notice as well. */
export function deadlinesIn(
  sql: SqlStorage,
  deliveredSeq: () => number,
): StoredDeadlines<RunDeadline> {
  return {
    read: () => {
      const { deadlines } = sql
        .exec<{ deadlines: string }>("SELECT deadlines FROM log WHERE seq = 0")
        .one();
      return JSON.parse(deadlines) as DeadlineSet<RunDeadline>;
    },
    write: (deadlines) =>
      void sql.exec(
        "UPDATE log SET deadlines = ?, delivered_seq = max(delivered_seq, ?) WHERE seq = 0",
        JSON.stringify(deadlines),
        deliveredSeq(),
      ),
  };
}
