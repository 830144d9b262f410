import type { StreamedRun } from "../../protocol/run/client-wire.ts";
import type { LoggedEvent } from "../../protocol/run/event.ts";

/** One event of a run. The first event names the run. */
export type EventLine = LoggedEvent & { readonly run?: StreamedRun };

/** The run waits, and goes on later. */
export const WAITS = "{}";

/** Lines that came together; none for a heartbeat. */
export interface LineBatch {
  readonly lines: readonly EventLine[];
  readonly waits: boolean;
}

/**
 * Reads the stream of a run, which ends with the event `done` or with a batch that `waits`.
 * Ownership: a caller that stops before the end cancels the stream.
 */
export class EventLineReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #rest = "";
  #isOver = false;

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader();
  }

  /**
   * Reads the next lines; undefined after the last.
   * Fails: throws when the stream breaks off, because half an answer must not look whole.
   */
  async next(): Promise<LineBatch | undefined> {
    while (!this.#isOver) {
      const { value, done } = await this.#reader.read();
      if (done) throw new Error("the stream of a run broke off");
      const texts = (this.#rest + this.#decoder.decode(value, { stream: true })).split("\n");
      this.#rest = texts.pop() ?? "";
      if (texts.length > 0) return this.#read(texts);
    }
    return undefined;
  }

  cancel(): void {
    this.#isOver = true;
    this.#reader.cancel().catch(() => undefined);
  }

  #read(texts: readonly string[]): LineBatch {
    const waits = texts.includes(WAITS);
    const lines = texts
      .filter((text) => text !== "" && text !== WAITS)
      .map((text) => JSON.parse(text) as EventLine);
    this.#isOver = waits || lines.at(-1)?.event.type === "done";
    return { lines, waits };
  }
}
