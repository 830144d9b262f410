import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { PLAYED_WIRES, type PlayedWire } from "../../../test/fakes/provider-wires.ts";
import { EffectBook, type EffectEntry, type EffectRequest } from "./effect-book.ts";
import { lacksReasoning, modelFrames } from "./model-answers.ts";
import { parseScript, type EffectFault, type ModelFault, type ScriptedStep } from "./scenario.ts";
import { sleep } from "../sleep.ts";

/** Instants that the world sees, at which a part may end the process that asks. */
export const MOMENTS = ["model_asked", "model_half", "effect_asked", "effect_done"] as const;
type Moment = (typeof MOMENTS)[number];
/** `modelCall` is the script and the number of its step, `script/0`, at a moment of the model. */
type MomentListener = (moment: Moment, modelCall?: string) => void;

/** The outside of a deployment: the model's provider and the server that tools have effects on. */
export interface World {
  readonly url: string;
  readonly effects: EffectBook;
  /** Tells a listener of each moment, as it is there, until the returned function is called. */
  readonly listen: (listener: MomentListener) => () => void;
  /**
   * Resolves once every request for an effect that was sent before has had its effect.
   * Fails: throws when the world has stopped.
   */
  readonly settled: () => Promise<void>;
  stop(): Promise<void>;
}

/**
 * An owner looks up a key only after all that was sent before the question has been read. Unit: ms.
 */
const LOOK_UP_AFTER_MS = 25;
const SLOW_MS = 150;

/** Starts the world on loopback. */
export async function startWorld(): Promise<World> {
  const effects = new EffectBook();
  const asked = new Set<string>();
  const inFlight = new Set<Promise<unknown>>();
  const listeners = new Set<MomentListener>();
  const tell: MomentListener = (...told) => {
    for (const listener of listeners) listener(...told);
  };
  const server = createServer((request, response) => {
    const url = request.url ?? "";
    const wire = PLAYED_WIRES.find(({ path }) => url.endsWith(path));
    const answered = wire
      ? answerModel({ request, response, tell, asked, wire })
      : url === "/effects"
        ? answerEffect({ request, response, tell, effects, inFlight })
        : answerLookUp(effects, url.replace("/effects/", ""), response);
    answered.catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const world: World = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    effects,
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async settled() {
      // This request arrives after all that were sent before it, however busy this process is.
      await fetch(`${world.url}/effects/none`).then((answer) => answer.arrayBuffer());
      await Promise.allSettled(inFlight);
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return world;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly tell: MomentListener;
}

/**
 * Plays the step that is due: as many as the conversation holds answers of the model since the
 * script.
 */
async function answerModel({
  request,
  response,
  tell,
  asked,
  wire,
}: Exchange & { readonly asked: Set<string>; readonly wire: PlayedWire }): Promise<void> {
  const body = await text(request);
  const messages = wire.readMessages(JSON.parse(body) as Record<string, unknown>);
  const start = messages.findLastIndex(({ role }) => role === "user");
  const script = parseScript(messages[start]?.content ?? "");
  if (!script) return refuse(response, 400);
  const number = messages.slice(start).filter(({ role }) => role === "assistant").length;
  const scriptId = script.id;
  if (lacksReasoning(wire, body, { scriptId, number })) return refuse(response, 400);
  const step: ScriptedStep = script.steps[number] ?? { text: [], calls: [] };
  const call = `${script.id}/${number}`;
  const fault = asked.has(call) ? undefined : step.fault;
  asked.add(call);
  tell("model_asked", call);
  if (fault === "error") return refuse(response, 500);
  if (fault === "rate_limited") return refuse(response, 429);
  const frames = modelFrames(wire, { scriptId, step, number });
  const atHalf = (): void => tell("model_half", call);
  await stream(response, { frames, fault, paceMs: step.paceMs, atHalf });
}

interface Answer {
  readonly frames: readonly string[];
  readonly fault: ModelFault | undefined;
  readonly paceMs: number | undefined;
  readonly atHalf: () => void;
}

async function stream(
  response: ServerResponse,
  { frames, fault, paceMs = 0, atHalf }: Answer,
): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const delayMs = fault === "slow" ? SLOW_MS : paceMs;
  const half = Math.floor(frames.length / 2);
  for (const [index, frame] of frames.entries()) {
    if (delayMs > 0) await sleep(delayMs);
    if (index === half) atHalf();
    if (index === half && fault === "disconnect") return void response.destroy();
    if (index === half && fault === "stall") return;
    response.write(frame);
  }
  response.end();
}

type EffectExchange = Exchange & {
  readonly effects: EffectBook;
  /** Requests that may still have their effect. */
  readonly inFlight: Set<Promise<unknown>>;
};

async function answerEffect(exchange: EffectExchange): Promise<void> {
  const { response, inFlight } = exchange;
  const made = makeEffect(exchange);
  inFlight.add(made);
  const { entry, fault } = await made.finally(() => inFlight.delete(made));
  switch (fault) {
    case "error_before":
    case "error_after":
      return refuse(response, 500);
    case "rate_limited":
      return refuse(response, 429);
    case "disconnect_after":
      return void response.destroy();
    case "silent_before":
    case "silent_after":
      return;
    case "none":
    case "slow":
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ operation: entry.operation }));
  }
}

interface Made {
  readonly entry: EffectEntry;
  readonly fault: EffectFault;
}

async function makeEffect({ request, tell, effects }: EffectExchange): Promise<Made> {
  const key = String(request.headers["idempotency-key"]);
  const body = JSON.parse(await text(request)) as Omit<EffectRequest, "key">;
  const { entry, isFirst } = effects.note({ ...body, key });
  const fault = isFirst ? body.fault : "none";
  tell("effect_asked");
  if (fault === "slow") await afterwards(entry, SLOW_MS);
  const isRefused =
    fault === "error_before" || fault === "silent_before" || fault === "rate_limited";
  if (!isRefused) {
    effects.commit(entry);
    tell("effect_done");
  }
  return { entry, fault };
}

async function afterwards(entry: EffectEntry, delayMs: number): Promise<void> {
  entry.pending++;
  await sleep(delayMs);
  entry.pending--;
}

async function answerLookUp(
  effects: EffectBook,
  key: string,
  response: ServerResponse,
): Promise<void> {
  await sleep(LOOK_UP_AFTER_MS);
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ state: effects.stateOf(key) }));
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, status === 429 ? { "retry-after": "1" } : {});
  response.end();
}
