/**
 * How one connection to a run's stream ended: `done` after the run's last event, `cut` in between,
 * `malformed` or `too_large` on data that cannot be read, `waiting` while the run waits for people.
 */
export type StreamEnd =
  | { readonly kind: "done" }
  | { readonly kind: "cut" }
  | { readonly kind: "malformed" }
  | { readonly kind: "too_large" }
  /** The reader should return after this time; undefined where the wire does not say it. */
  | { readonly kind: "waiting"; readonly returnAfterMs: number | undefined };

/** What one read of a stream gave. Without items it is a sign that the connection lives. */
export interface StreamBatch<Item> {
  readonly items: readonly Item[];
  /** Only the last batch has it. */
  readonly end?: StreamEnd | undefined;
}

/**
 * Reads one connection. Contract: never throws; the last batch has an end. A caller that stops
 * before the end closes the connection.
 */
export type ReadStream<Item> = (
  body: ReadableStream<Uint8Array>,
) => AsyncGenerator<StreamBatch<Item>, void, undefined>;
