import type { Clock } from "../../src/capabilities/system.ts";
import type { WorkspaceChange } from "../../src/workspace/change-list.ts";

/** Unread bytes of one reader. A reader with more is cut off and comes back for the rest. */
const MAX_UNREAD_BYTES = 64 * 1024;
/** Readers of one workspace at a time. */
const MAX_READERS = 128;
/** A reader comes back after this time, and its membership is checked again. */
const MAX_OPEN_MS = 300_000;
const HEARTBEAT_AFTER_MS = 15_000;
const TRAILER = "retry: 1000\n\n";

/** What the feed reads of a workspace. */
export interface ChangeSource {
  readonly newestRevision: number;
  changesAfter(revision: number): readonly WorkspaceChange[] | undefined;
}

interface Reader {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  /** Stops the timers of the reader. */
  readonly stop: () => void;
}

/**
 * Streams the changes of a workspace to pages. Contract: a change is sent after its transaction,
 * and the platform holds it back until the transaction is durable.
 */
export class ChangeFeed {
  readonly #source: ChangeSource;
  readonly #clock: Pick<Clock, "schedule">;
  readonly #readers = new Set<Reader>();
  readonly #utf8 = new TextEncoder();

  constructor(source: ChangeSource, clock: Pick<Clock, "schedule">) {
    this.#source = source;
    this.#clock = clock;
  }

  get isFull(): boolean {
    return this.#readers.size >= MAX_READERS;
  }

  publish(changes: readonly WorkspaceChange[]): void {
    const text = changes.map(formatChange).join("");
    for (const reader of this.#readers) this.#send(reader, text);
  }

  /** Opens a stream of the changes after a revision; without one, of those that come. */
  open(after: number | undefined): ReadableStream<Uint8Array> {
    let reader: Reader | undefined;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          reader = this.#add(controller);
          this.#send(reader, this.#begin(after));
        },
        cancel: () => {
          if (reader) this.#remove(reader);
        },
      },
      { highWaterMark: MAX_UNREAD_BYTES, size: (chunk) => chunk.byteLength },
    );
  }

  /** Tells a reader to read everything when it names no revision, or one without its successors. */
  #begin(after: number | undefined): string {
    const { newestRevision: newest } = this.#source;
    const missed =
      after === undefined || after > newest ? undefined : this.#source.changesAfter(after);
    if (missed) return missed.map(formatChange).join("");
    return formatEvent("workspace_reset", newest, { revision: newest });
  }

  #add(controller: ReadableStreamDefaultController<Uint8Array>): Reader {
    let stopBeat: () => void;
    const beat = (): void => {
      stopBeat = this.#clock.schedule(HEARTBEAT_AFTER_MS, () => {
        this.#send(reader, ": still here\n\n");
        if (this.#readers.has(reader)) beat();
      });
    };
    const stopEnd = this.#clock.schedule(MAX_OPEN_MS, () => this.#close(reader));
    const reader: Reader = {
      controller,
      stop: () => {
        stopBeat();
        stopEnd();
      },
    };
    beat();
    this.#readers.add(reader);
    return reader;
  }

  #send(reader: Reader, text: string): void {
    if (text !== "") reader.controller.enqueue(this.#utf8.encode(text));
    if ((reader.controller.desiredSize ?? 0) <= 0) this.#close(reader);
  }

  #close(reader: Reader): void {
    if (!this.#readers.has(reader)) return;
    this.#remove(reader);
    reader.controller.enqueue(this.#utf8.encode(TRAILER));
    reader.controller.close();
  }

  #remove(reader: Reader): void {
    this.#readers.delete(reader);
    reader.stop();
  }
}

function formatChange(change: WorkspaceChange): string {
  const { entity, id, revision } = change;
  return formatEvent("workspace_changed", revision, { entity, id, revision });
}

function formatEvent(type: string, revision: number, data: object): string {
  return `id: ${revision}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
