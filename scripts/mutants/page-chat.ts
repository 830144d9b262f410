import type { Mutant } from "./mutant.ts";

/** What keeps the chat of a page in step with its run. */
export const PAGE_CHAT: readonly Mutant[] = [
  {
    name: "a page without a token asks for the texts of its assistant",
    file: "src/widget/chat/page-texts.ts",
    from: "if (needsToken && token === undefined) return undefined;",
    to: "void needsToken;",
    test: {
      file: "test/widget/page-assistant.node.test.ts",
      name: "asks for nothing before it has a token",
    },
  },
  {
    name: "a part of an event is applied before its id arrived",
    file: "src/wire/assistant-transport/read-chunks.ts",
    from: "    else if (chunk) chunks.push(chunk);",
    to: '    else if (chunk) complete.push({ id: "0-0" as EventId, chunks: [chunk] });',
    test: {
      file: "test/widget/read-chunks.test.ts",
      name: "passes on no part of an event before its id arrived, wherever the stream is cut",
    },
  },
  {
    name: "a repeated question has another key",
    file: "src/widget/chat/stream-opener.ts",
    from: "const request = known ?? this.#newRequest(key, this.#exchanges.runBefore(key));",
    to: "const request = this.#newRequest(key, this.#exchanges.runBefore(key));",
    test: {
      file: "test/widget/page-interruption.node.test.ts",
      name: "is sent again under the same key, and the page follows its one run",
    },
  },
  {
    name: "a reader who may not undo a call sees the button",
    file: "src/widget/chat/undo-view.ts",
    from: "this.root.hidden = status === undefined;",
    to: "this.root.hidden = false;",
    test: {
      file: "test/widget/page-undo.node.test.ts",
      name: "is not there for a reader who may not, and while the answer goes on",
    },
  },
  {
    name: "a withdrawn text stays",
    file: "src/widget/chat/apply-data.ts",
    from: "const isWithdrawn = isWords && indices.includes(part.index);",
    to: "const isWithdrawn = isWords && indices.includes(-1);",
    test: {
      file: "test/widget/chat/apply-chunk.test.ts",
      name: "keeps none of its text, and no later delta grows it",
    },
  },
  {
    name: "the chat does not follow what a card adds later",
    file: "src/widget/chat/scroll-keeper.ts",
    from: "observer.observe(content);",
    to: "",
    test: {
      file: "test/widget/page-approval.node.test.ts",
      name: "stays in view to its end when the reader is at the end of the chat",
    },
  },
];
