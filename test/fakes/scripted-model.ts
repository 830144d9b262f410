import {
  ANTHROPIC,
  CHAT,
  PLAYED_WIRES,
  type PlayedMessage,
  type PlayedWire,
} from "./provider-wires.ts";
import { repeatFrames, type Repetition } from "./repeated-frames.ts";

/** Answer of a scripted model to one model call, on any wire. */
export interface ScriptedStep {
  /** Text deltas, one frame each. */
  readonly text?: readonly string[];
  /** Repeats the text this many times. */
  readonly times?: number;
  readonly calls?: readonly {
    readonly id?: string;
    readonly name: string;
    readonly args: string;
  }[];
  /**
   * Reasoning that the provider must see again, where its wire has such a thing. The provider sends
   * it in capitals.
   */
  readonly reasoning?: string;
  /** Deltas of a reasoning summary, where the wire has such a thing. Sent in capitals. */
  readonly summary?: readonly string[];
  /** Deltas in the format of Chat Completions, one frame each, for quirks of providers. */
  readonly deltas?: readonly object[];
  /** How the provider repeats the calls. */
  readonly repeats?: Repetition;
  /** The whole answer as events of its wire, for quirks of providers. */
  readonly events?: readonly (object | "[DONE]")[];
  /** The provider's own word. */
  readonly finish?: string;
  /** Usage as Chat Completions reports it. `null`: no report. */
  readonly usage?: unknown;
  /** Answers with this HTTP status and no stream. */
  readonly status?: number;
  /** Repeats the request as text. */
  readonly echoes?: boolean;
  /** The body of that answer. Default: `no`. */
  readonly words?: string;
  /** Sends everything, then leaves the stream open. */
  readonly hangs?: boolean;
  /** Sends everything, then waits until the test releases this name. */
  readonly holds?: string;
  /** What the provider answers instead for a model with this name. */
  readonly as?: { readonly [model: string]: ScriptedStep };
  /** Answers with the request, so that a test can read what the provider sees. */
  readonly shows?: boolean;
  /** A unique name. A repeated call gets the step in `later` instead. */
  readonly once?: string;
  readonly later?: ScriptedStep;
  /** Breaks off the connection instead of finishing. */
  readonly breaks?: boolean;
  /** Sends an invalid answer instead of finishing. */
  readonly garbled?: boolean;
}

/** URL that releases a hold by its name. */
export function releaseUrl(word: string): string {
  return `http://provider.test/release/${word}`;
}

/** URL that answers when the name is released, for a slow tool. */
export function holdUrl(word: string): string {
  return `http://provider.test/hold/${word}`;
}

/** Makes a user message with the answers of the scripted model, step by step. */
export function script(...steps: readonly ScriptedStep[]): string {
  return JSON.stringify({ steps });
}

/**
 * Makes a user message for a model that obeys every instruction. After its first step it makes
 * every call that a tool result asks for, in lines of the form `CALL <tool> <arguments>`, and
 * repeats everything that it was shown.
 */
export function obey(first: ScriptedStep): string {
  return JSON.stringify({ obey: first });
}

/**
 * Plays the provider. The last user message holds the script, and the assistant messages after it
 * tell which step is due. After the last step the model stops. A message that is not a script is
 * echoed with the request, so that a test can read what a provider sees.
 */
export async function answerAsProvider(request: Request): Promise<Response> {
  const [, what, word] = /\/(release|hold)\/(.+)$/.exec(request.url) ?? [];
  if (word !== undefined) {
    const gate = gateOf(word);
    if (what === "release") gate.resolve();
    await gate.promise;
    return new Response("released");
  }
  const wire = PLAYED_WIRES.find(({ path }) => request.url.endsWith(path)) ?? CHAT;
  const asked = await request.json<Record<string, unknown>>();
  const messages = wire.readMessages(asked);
  const start = messages.findLastIndex((message) => message.role === "user");
  const turn = messages.slice(start + 1);
  const said = messages[start]?.content ?? "";
  const steps = readScript(said) ?? readSummary(said) ?? readObedience(said, turn);
  const answerWith = (step: ScriptedStep) => framesOn(wire, step);
  if (!steps) return stream(answerWith({ text: [JSON.stringify(asked)] }), "closes");
  const due = turn.filter(({ role }) => role === "assistant").length;
  const scripted = steps[due] ?? { text: ["done"] };
  const step = dueStep(scripted.as?.[String(asked["model"])] ?? scripted);
  if (step.shows) return stream(answerWith({ text: [JSON.stringify(asked)] }), "closes");
  if (step.echoes) return stream(answerWith({ text: [JSON.stringify(asked)] }), "closes");
  if (step.status !== undefined) return new Response(step.words ?? "no", { status: step.status });
  const held = step.holds === undefined ? undefined : gateOf(step.holds).promise;
  const end = step.hangs ? "hangs" : step.breaks ? "breaks" : "closes";
  return stream(answerWith(step), end, held, wire.closing);
}

const happened = new Set<string>();

/** Returns the step. A named step happens once; a repeated call gets its `later`. */
function dueStep(step: ScriptedStep): ScriptedStep {
  if (step.once === undefined || step.later === undefined) return step;
  if (happened.has(step.once)) return dueStep(step.later);
  happened.add(step.once);
  return step;
}

const gates = new Map<string, PromiseWithResolvers<void>>();

function gateOf(word: string): PromiseWithResolvers<void> {
  const gate = gates.get(word) ?? Promise.withResolvers<void>();
  gates.set(word, gate);
  return gate;
}

function readScript(text: string): readonly ScriptedStep[] | undefined {
  try {
    return (JSON.parse(text) as { steps?: readonly ScriptedStep[] }).steps;
  } catch {
    return undefined;
  }
}

/** A model that summarises a chat answers what the newest script in it has as its `summary`. */
function readSummary(text: string): readonly ScriptedStep[] | undefined {
  const [, json] = /^<conversation kind="data">\n(.*)\n<\/conversation>$/s.exec(text) ?? [];
  if (json === undefined) return undefined;
  const said = JSON.parse(json) as readonly { readonly person?: string }[];
  const summaries = said.flatMap(({ person = "" }) => {
    try {
      return (JSON.parse(person) as { summary?: ScriptedStep }).summary ?? [];
    } catch {
      return [];
    }
  });
  return summaries.slice(-1);
}

function readObedience(
  text: string,
  turn: readonly PlayedMessage[],
): readonly ScriptedStep[] | undefined {
  let first: ScriptedStep | undefined;
  try {
    first = (JSON.parse(text) as { obey?: ScriptedStep }).obey;
  } catch {
    return undefined;
  }
  if (!first) return undefined;
  const due = turn.filter(({ role }) => role === "assistant").length;
  const last = turn.findLastIndex(({ role }) => role === "assistant");
  const shown = turn.slice(last + 1).map(({ content }) => content);
  const told = shown.map(readToldText).join("\n");
  const calls = [...told.matchAll(/^CALL (\S+) (\{.*\})$/gm)].map(
    ([, name = "", args = ""], index) => ({ id: `obey_${due}_${index}`, name, args }),
  );
  const next: ScriptedStep = { text: shown, calls };
  return [first, ...Array.from({ length: due }, () => next)];
}

/** Extracts the text of a tool from its label and its observation. */
function readToldText(content: string): string {
  const [, json = "null"] = /^<tool_output [^>]*>\n(.*)\n<\/tool_output>$/s.exec(content) ?? [];
  const observation = JSON.parse(json) as { result_payload?: { data?: { text?: string } } } | null;
  return observation?.result_payload?.data?.text ?? "";
}

function framesOn(wire: PlayedWire, step: ScriptedStep): readonly string[] {
  if (step.events) {
    const lines = step.events.map((one) => (one === "[DONE]" ? one : JSON.stringify(one)));
    return lines.map((line) => `data: ${line}\n\n`);
  }
  const { repeats } = step;
  return repeats ? repeatFrames(playStep(wire, step), repeats) : playStep(wire, step);
}

function playStep(wire: PlayedWire, step: ScriptedStep): readonly string[] {
  const calls = (step.calls ?? []).map(({ id, name, args }, index) => ({
    id: id ?? `${wire === ANTHROPIC ? "toolu" : "call"}_${index}`,
    name,
    args,
  }));
  const text = Array.from({ length: step.times ?? 1 }, () => step.text ?? []).flat();
  const { reasoning, summary, finish } = step;
  const frames = wire.frames({
    text,
    calls,
    // The script is in the conversation too, so a test must be able to tell the two apart.
    ...(reasoning !== undefined && { reasoning: reasoning.toUpperCase() }),
    ...(summary && { summary: summary.map((delta) => delta.toUpperCase()) }),
    ...(finish !== undefined && { finish }),
  });
  const said = frames.slice(0, -wire.closing);
  const closing = frames.slice(-wire.closing);
  said.push(...(step.deltas ?? []).map((delta) => chatChunk(delta)));
  if (step.hangs || step.breaks) return said;
  if (step.garbled) return [...said, "data: {\n\n"];
  if (step.usage === undefined) return [...said, ...closing];
  return [...said, closing[0] ?? "", chatUsage(step.usage), "data: [DONE]\n\n"];
}

function chatChunk(delta: object): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
}

function chatUsage(usage: unknown): string {
  return `data: ${JSON.stringify({ id: "chatcmpl-1", choices: [], usage })}\n\n`;
}

function stream(
  parts: readonly string[],
  end: "closes" | "hangs" | "breaks",
  held?: Promise<void>,
  closing = 0,
): Response {
  const encoder = new TextEncoder();
  const rest = [...parts];
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (rest.length === closing) await held;
      const next = rest.shift();
      if (next !== undefined) controller.enqueue(encoder.encode(next));
      else if (end === "closes") controller.close();
      else if (end === "breaks") controller.error(new Error("connection reset"));
      else await new Promise(() => {});
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
