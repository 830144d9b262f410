import type { JsonObject } from "../../../src/protocol/json/value.ts";
import { openEvents } from "./read-on.ts";
import { parseRunStream } from "./run-stream.ts";
import type { Target } from "./target.ts";

/** A client of the deployment: how it starts a run, and how it reads the whole answer later. */
export interface ClientPosts {
  readonly path: string;
  /** What it posts to say a text; `id` names the chat or the request. */
  readonly bodyOf: (id: string, text: string) => object;
  /** What the end of its stream holds, and nothing before it. */
  readonly end: string;
  /** Reads the text of a run that has ended, as this client reads it. */
  readonly readText: (target: Target, runId: string, post: Post) => Promise<string>;
}

/** Repeats the post with other members, under the same key. */
type Post = (more?: object) => Promise<Response>;

/** Every client of the chaos deployment; a new one joins by its line. */
export const CLIENT_POSTS: Readonly<Record<string, ClientPosts>> = {
  "assistant-transport": {
    path: "/v1/chat",
    bodyOf: (_id, content) => ({ messages: [{ role: "user", content }] }),
    end: "data: [DONE]",
    async readText(target, runId) {
      const answer = await openEvents(target, runId, undefined);
      return (await parseRunStream((await answer?.text()) ?? "")).text;
    },
  },
  "ui-message": {
    path: "/api/chat",
    bodyOf: uiBody,
    end: "data: [DONE]",
    readText: async (_target, _runId, post) => textOfChunks(await (await post()).text()),
  },
  "ui-message-6": {
    path: "/api/v6/chat",
    bodyOf: (id, text) => uiBody(`${id}-6`, text),
    end: "data: [DONE]",
    readText: async (_target, _runId, post) => textOfChunks(await (await post()).text()),
  },
  "ag-ui": {
    path: "/agui",
    bodyOf: (id, content) => ({
      threadId: id,
      runId: `${id}-run`,
      messages: [{ id: `${id}-message`, role: "user", content }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    }),
    end: '"type":"RUN_FINISHED"',
    readText: async (_target, _runId, post) => textOfAgUi(await (await post()).text()),
  },
  "openai-responses": {
    path: "/v1/responses",
    bodyOf: (_id, input) => ({ input, stream: true }),
    end: "data: [DONE]",
    async readText({ url, token }, runId) {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(`${url}/v1/responses/${runId}`, { headers });
      const { output } = await answer.json<{
        output: { content?: readonly { readonly text: string }[] }[];
      }>();
      return output.flatMap(({ content = [] }) => content.map(({ text }) => text)).join("");
    },
  },
  "openai-completions": {
    path: "/v1/chat/completions",
    bodyOf: (_id, content) => ({ messages: [{ role: "user", content }], stream: true }),
    end: "data: [DONE]",
    async readText(_target, _runId, post) {
      const answer = await post({ stream: false });
      const { choices } = await answer.json<{ choices: { message: { content: string } }[] }>();
      // Steps are paragraphs.
      return (choices[0]?.message.content ?? "").replaceAll("\n\n", "");
    },
  },
};

/** What `useChat` posts. */
function uiBody(id: string, text: string): object {
  return {
    id,
    messages: [{ id: `${id}-message`, role: "user", parts: [{ type: "text", text }] }],
  };
}

/** Reads the text of UI message chunks, without the steps that were asked for again. */
function textOfChunks(stream: string): string {
  const texts: string[] = [];
  let begun = 0;
  for (const [, json = ""] of stream.matchAll(/^data: (\{.*\})$/gm)) {
    const { type, delta, id } = JSON.parse(json) as JsonObject;
    // Version 6 says in a note of its own that the text above does not count.
    const isNote = typeof id === "string" && id.startsWith("withdrawn");
    if (type === "start-step") begun = texts.length;
    if (type === "reset-step" || isNote) texts.length = begun;
    else if (type === "text-delta" && typeof delta === "string") texts.push(delta);
  }
  return texts.join("");
}

interface AgUiFrame {
  readonly type: string;
  readonly messageId?: string;
  readonly delta?: string;
  readonly name?: string;
  readonly value?: { readonly parts?: readonly number[] };
}

/** Reads the text of AG-UI events, without the messages that were withdrawn. */
function textOfAgUi(stream: string): string {
  const texts = new Map<string, string>();
  for (const [, json = ""] of stream.matchAll(/^data: (\{.*\})$/gm)) {
    const { type, messageId = "", delta = "", name, value } = JSON.parse(json) as AgUiFrame;
    if (type === "TEXT_MESSAGE_CONTENT") {
      texts.set(messageId, (texts.get(messageId) ?? "") + delta);
    }
    const withdrawn = name === "interlock:text_withdrawn" ? (value?.parts ?? []) : [];
    for (const id of texts.keys()) {
      if (withdrawn.some((part) => id.endsWith(`-${part}`))) texts.delete(id);
    }
  }
  return [...texts.values()].join("");
}
