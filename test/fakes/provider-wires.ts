/** A whole answer of a provider, in neutral terms. */
export interface PlayedAnswer {
  /** Reasoning that the provider must see again. */
  readonly reasoning?: string;
  /** Deltas of a reasoning summary. The wire `openai` has none. */
  readonly summary?: readonly string[];
  /** Text deltas, one frame each. */
  readonly text?: readonly string[];
  /** `args` in several pieces is sent in several frames. */
  readonly calls?: readonly {
    readonly id: string;
    readonly name: string;
    readonly args: string | readonly string[];
  }[];
  /** The provider's own word. Default: what the calls decide. */
  readonly finish?: string;
  /** Input and output tokens. `null`: no report. */
  readonly tokens?: readonly [input: number, output: number] | null;
}

/** One message of a request, as every wire says it. */
export interface PlayedMessage {
  readonly role: string;
  readonly content: string;
}

/** The provider's side of one wire. */
export interface PlayedWire {
  readonly path: string;
  /** The frames of an answer. The last `closing` of them end it. */
  frames(answer: PlayedAnswer): readonly string[];
  readonly closing: number;
  readMessages(body: Record<string, unknown>): readonly PlayedMessage[];
}

type Body = Record<string, unknown>;
interface Item {
  readonly type?: string;
  readonly role?: string;
  readonly content?: unknown;
  readonly output?: string;
  readonly text?: string;
}

const frame = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const named = (data: { readonly type: string }): string => `event: ${data.type}\n${frame(data)}`;
const piecesOf = (args: string | readonly string[]): readonly string[] =>
  typeof args === "string" ? [args] : args;
const finishOf = ({ calls = [], finish }: PlayedAnswer, [stop, called]: [string, string]): string =>
  finish ?? (calls.length > 0 ? called : stop);

/** Joins the texts of a message's content. */
function textIn(content: unknown): string {
  if (!Array.isArray(content)) return String(content);
  return (content as readonly Item[]).map(({ text = "" }) => text).join("");
}

export const RESPONSES: PlayedWire = {
  path: "/responses",
  closing: 1,
  frames(answer) {
    const { reasoning, summary = [], text = [], calls = [], tokens = [10, 2] } = answer;
    const output: object[] = [];
    const frames = [named({ type: "response.created", response: { output: [] } } as never)];
    const add = (item: object, deltas: readonly object[] = []) => {
      const at = { output_index: output.length, item_id: `item_${output.length}` };
      frames.push(named({ type: "response.output_item.added", ...at, item } as never));
      for (const delta of deltas) frames.push(named({ ...delta, ...at } as never));
      frames.push(named({ type: "response.output_item.done", ...at, item } as never));
      output.push(item);
    };
    const id = () => `item_${output.length}`;
    if (reasoning !== undefined || summary.length > 0) {
      const deltas = summary.map((delta) => {
        return { type: "response.reasoning_summary_text.delta", summary_index: 0, delta };
      });
      const whole = summary.length > 0 ? [{ type: "summary_text", text: summary.join("") }] : [];
      const sealed = { encrypted_content: reasoning ?? "SEALED" };
      add({ type: "reasoning", id: id(), summary: whole, ...sealed }, deltas);
    }
    if (text.length > 0) {
      const deltas = text.map((delta) => ({ type: "response.output_text.delta", delta }));
      const content = [{ type: "output_text", text: text.join(""), annotations: [] }];
      const message = { type: "message", id: id(), role: "assistant", content };
      add({ ...message, ...(reasoning !== undefined && { phase: "commentary" }) }, deltas);
    }
    for (const { id: call_id, name, args } of calls) {
      const type = "response.function_call_arguments.delta";
      const deltas = piecesOf(args).map((delta) => ({ type, delta }));
      const whole = piecesOf(args).join("");
      const status = "completed";
      add({ type: "function_call", id: id(), call_id, name, arguments: whole, status }, deltas);
    }
    const reason = answer.finish;
    const status = reason === undefined ? "completed" : "incomplete";
    const usage = tokens && { input_tokens: tokens[0], output_tokens: tokens[1] };
    const incomplete_details = reason === undefined ? null : { reason };
    const response = { object: "response", status, output, usage, incomplete_details };
    return [...frames, named({ type: `response.${status}`, response } as never)];
  },
  readMessages(body) {
    const messages: PlayedMessage[] = [];
    for (const item of body["input"] as readonly Item[]) {
      if (item.type === "function_call_output") {
        messages.push({ role: "tool", content: item.output ?? "" });
      } else if (item.type === undefined || item.type === "message") {
        if (item.role !== "assistant") {
          messages.push({ role: item.role ?? "", content: textIn(item.content) });
        } else if (messages.at(-1)?.role !== "assistant") {
          messages.push({ role: "assistant", content: "" });
        }
      } else if (messages.at(-1)?.role !== "assistant") {
        messages.push({ role: "assistant", content: "" });
      }
    }
    return messages;
  },
};

export const ANTHROPIC: PlayedWire = {
  path: "/messages",
  closing: 2,
  frames(answer) {
    const { reasoning, summary = [], text = [], calls = [], tokens = [10, 2] } = answer;
    const usage = tokens && { input_tokens: tokens[0], output_tokens: 1 };
    const frames = [named({ type: "message_start", message: { usage } } as never)];
    let index = 0;
    const add = (content_block: object, deltas: readonly object[]) => {
      frames.push(named({ type: "content_block_start", index, content_block } as never));
      for (const delta of deltas) {
        frames.push(named({ type: "content_block_delta", index, delta } as never));
      }
      frames.push(named({ type: "content_block_stop", index } as never));
      index++;
    };
    if (reasoning !== undefined || summary.length > 0) {
      const words = summary.length > 0 ? summary : [`I think ${reasoning}`];
      add({ type: "thinking", thinking: "", signature: "" }, [
        ...words.map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature: reasoning ?? "SEALED" },
      ]);
      add({ type: "redacted_thinking", data: reasoning ?? "SEALED" }, []);
    }
    if (text.length > 0) {
      add(
        { type: "text", text: "" },
        text.map((delta) => ({ type: "text_delta", text: delta })),
      );
    }
    for (const { id, name, args } of calls) {
      const deltas = piecesOf(args).map((partial_json) => ({
        type: "input_json_delta",
        partial_json,
      }));
      add({ type: "tool_use", id, name, input: {}, caller: { type: "direct" } }, deltas);
    }
    const delta = { stop_reason: finishOf(answer, ["end_turn", "tool_use"]) };
    const final = tokens ? { usage: { output_tokens: tokens[1] } } : {};
    return [
      ...frames,
      named({ type: "message_delta", delta, ...final } as never),
      named({ type: "message_stop" }),
    ];
  },
  readMessages(body: Body) {
    const system = (body["system"] ?? []) as readonly Item[];
    return [
      ...system.map(({ text = "" }) => ({ role: "system", content: text })),
      ...(body["messages"] as readonly Item[]).flatMap(({ role = "", content }) => {
        const blocks = content as readonly Item[];
        if (role === "assistant") return [{ role, content: "" }];
        const results = blocks.filter(({ type }) => type === "tool_result");
        const read = results.map((block) => ({ role: "tool", content: String(block.content) }));
        return results.length < blocks.length
          ? read.concat([{ role, content: textIn(blocks) }])
          : read;
      }),
    ];
  },
};

export const CHAT: PlayedWire = {
  path: "/chat/completions",
  closing: 3,
  frames(answer) {
    const { reasoning, text = [], calls = [], tokens = [10, 2] } = answer;
    const chunk = (delta: object, finish_reason: string | null = null): string =>
      frame({
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta, finish_reason }],
      });
    const usage = tokens && { prompt_tokens: tokens[0], completion_tokens: tokens[1] };
    return [
      ...(reasoning === undefined ? [] : [chunk({ reasoning_content: reasoning })]),
      ...text.map((content) => chunk({ content })),
      ...calls.flatMap(({ id, name, args }, index) =>
        piecesOf(args).map((piece, at) => {
          const head = at === 0 ? { id, type: "function" } : {};
          const asked = at === 0 ? { name, arguments: piece } : { arguments: piece };
          return chunk({ tool_calls: [{ index, ...head, function: asked }] });
        }),
      ),
      chunk({}, finishOf(answer, ["stop", "tool_calls"])),
      frame({ id: "chatcmpl-1", choices: [], usage }),
      "data: [DONE]\n\n",
    ];
  },
  readMessages: (body) =>
    (body["messages"] as readonly Item[]).map(({ role = "", content }) => ({
      role,
      content: textIn(content),
    })),
};

export const PLAYED_WIRES = [CHAT, RESPONSES, ANTHROPIC] as const;
