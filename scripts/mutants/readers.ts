import type { Mutant } from "./mutant.ts";

/** What keeps the streams of a run's readers whole, and lets them end. */
export const READERS: readonly Mutant[] = [
  {
    name: "every reader gets the bytes of the first wire",
    file: "durable-objects/run/event-feed.ts",
    from: "encoded.get(reader.wire) ??",
    to: "[...encoded.values()][0] ??",
    test: {
      file: "test/durable-objects/event-feed.test.ts",
      name: "encodes an event once for each wire in use, and hands each reader its own wire",
    },
  },
  {
    name: "readers stay when the run begins to wait",
    file: "durable-objects/run/event-feed.ts",
    from: "for (const reader of this.#readers) this.#closeIfDone(reader);",
    to: "",
    test: {
      file: "test/durable-objects/event-feed.test.ts",
      name: "ends each stream after the last event and a trailer, and stops the timer",
    },
  },
  {
    name: "a reader that returns to a waiting run stays",
    file: "durable-objects/run/event-feed.ts",
    from: "if (!this.#ended && !this.#isWaiting) return;",
    to: "if (!this.#ended) return;",
    test: {
      file: "test/durable-objects/event-feed.test.ts",
      name: "ends the stream of each reader that returns, so that none keeps the object awake",
    },
  },
  {
    name: "streams still end at once after the run continues",
    file: "durable-objects/run/event-feed.ts",
    from: "this.#isWaiting = false;",
    to: "",
    test: {
      file: "test/durable-objects/event-feed.test.ts",
      name: "keeps readers again once the run continues",
    },
  },
  {
    name: "a new incarnation does not know that its run waits",
    file: "durable-objects/run/event-feed.ts",
    from: "this.#isWaiting = isWaiting;",
    to: "this.#isWaiting = isWaiting && false;",
    test: {
      file: "test/durable-objects/event-feed.test.ts",
      name: "still waits in the next incarnation of the object",
    },
  },
];
