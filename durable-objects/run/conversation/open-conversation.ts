import type { RunGateway } from "../../../src/capabilities/run.ts";
import type { Clock } from "../../../src/capabilities/system.ts";
import { Conversation } from "../../../src/conversation/conversation.ts";
import { pageOf } from "../../../src/run/turn-page.ts";
import { hashNow } from "../../hash-now.ts";
import type { OpenRun } from "../open-run.ts";
import { StoredFiles } from "../stored-files.ts";
import { TurnTables } from "./turn-tables.ts";

/** Delay until the alarm goes on with what a request began to delete. */
const ERASE_AFTER_MS = 10_000;

/** The tenant hears of it each time that a conversation has grown by so much. */
const REPORT_EVERY_BYTES = 64 * 1024;

interface ConversationParts {
  readonly storage: DurableObjectStorage;
  readonly clock: Clock;
  readonly runs: () => RunGateway;
  /** Sets the time at which the object goes on to delete the conversation. */
  readonly scheduleErasure: (atMs: number) => void;
  /** Ends this incarnation: what it holds in memory may be more than what is stored. */
  readonly abandon: (cause: unknown) => void;
}

/** Opens the conversation that begins with a claimed run, over the tables of the run. */
export function openConversation(
  run: OpenRun,
  { storage, clock, runs, scheduleErasure, abandon }: ConversationParts,
): Conversation {
  const { store } = run;
  const tables = (): ReturnType<typeof store.tables> => store.tables();
  const { runId, owner, createdMs } = store.identity();
  const stepsStored = (): number => Math.floor(store.storedBytes() / REPORT_EVERY_BYTES);
  return new Conversation({
    turns: new TurnTables(storage.sql, tables),
    names: {
      read() {
        if (!tables().has("naming")) return undefined;
        return storage.sql.exec<{ title: string }>("SELECT title FROM naming").one().title;
      },
      write(title) {
        tables().create("naming");
        storage.sql.exec("DELETE FROM naming");
        storage.sql.exec("INSERT INTO naming (title) VALUES (?)", title);
        run.outbox.notify({ type: "conversation", title });
      },
    },
    tellFeedback: (notice) => run.outbox.notify(notice),
    erasure: {
      get hasBegun() {
        return tables().has("erasure");
      },
      begin() {
        tables().create("erasure");
        storage.sql.exec("INSERT INTO erasure (begun_ms) VALUES (?)", clock.nowMs());
        scheduleErasure(clock.nowMs() + ERASE_AFTER_MS);
      },
      finish() {
        tables().dropConversation();
        run.outbox.notify({ type: "conversation_erased" });
      },
    },
    runOf: (other) => runs().of(other),
    files: {
      has: (hash) => new StoredFiles(storage.sql, tables()).has(hash),
      read: (hash) => new StoredFiles(storage.sql, tables()).read(hash),
      put: (hash, base64) => new StoredFiles(storage.sql, tables()).put(hash, base64),
    },
    first: {
      runId,
      owner,
      createdMs,
      get workflowId() {
        return store.claimed()?.workflowId;
      },
      get firstPost() {
        return store.claimed()?.firstPost;
      },
      page: () => pageOf(run),
    },
    pageOf: (other, viewer) => runs().of(other).page(viewer),
    hash: hashNow,
    nowMs: () => clock.nowMs(),
    transaction(work) {
      const before = stepsStored();
      try {
        storage.transactionSync(work);
        // Its run reports no more by itself what the object stores.
        if (stepsStored() > before && run.journal.hasEnded && store.claimed()) {
          run.notices.updated();
        }
      } catch (cause) {
        abandon(cause);
        throw cause;
      }
    },
  });
}
