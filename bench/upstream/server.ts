import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import {
  ending,
  longArgumentsAnswer,
  refusedCallsAnswer,
  MARK,
  textAnswer,
  textFrame,
  toolCallAnswer,
} from "./answers.ts";
import { PACE_MS, scenarioOf } from "./scenario.ts";

/** Size of one write of a burst: that of a full TLS record. */
const RECORD_BYTES = 16 * 1024;

/** The part of a Chat Completions request that the answers depend on. */
interface CompletionRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

const answers = new Map<string, readonly Buffer[]>();

/**
 * An OpenAI-compatible provider on loopback, in its own process. It sends its port to the parent as
 * a message, and ends with its parent.
 */
const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => response.destroy(error as Error));
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
);
process.on("disconnect", () => process.exit());

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const sent = await text(request);
  // The provider is a collector of spans, too.
  if (request.url === "/v1/traces") {
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
    return;
  }
  const asked = JSON.parse(sent) as CompletionRequest;
  const scenario = scenarioOf(asked.model);
  response.socket?.setNoDelay(true);
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  switch (scenario.type) {
    case "silent":
      response.flushHeaders();
      return;
    case "paced":
      return pace(response, scenario.deltas);
    case "burst":
      return send(response, asked.model, () => inRecords(wholeText(scenario.deltas)));
    case "single":
      return send(response, asked.model, () => wholeText(scenario.deltas).map(toBytes));
    case "refused": {
      const isLast = asked.messages.some(({ role }) => role === "tool");
      return send(response, `${asked.model}/${isLast}`, () =>
        inRecords(isLast ? wholeText(8) : [...refusedCallsAnswer(scenario.calls), ...ending()]),
      );
    }
    case "arguments": {
      const isLast = asked.messages.some(({ role }) => role === "tool");
      const toolName = toolOf(asked, "take_text");
      return send(response, `${asked.model}/${isLast}/${toolName}`, () =>
        inRecords(
          isLast ? wholeText(8) : [...longArgumentsAnswer(toolName, scenario.kib), ...ending()],
        ),
      );
    }
    case "chain":
    case "writes": {
      const step = asked.messages.filter(({ role }) => role === "tool").length;
      const wanted = scenario.type === "writes" ? "write_time" : "current_time";
      const toolName = toolOf(asked, wanted);
      const isLast = step >= scenario.steps;
      return send(response, `${asked.model}/${step}/${toolName}`, () =>
        inRecords(isLast ? wholeText(8) : [...toolCallAnswer(toolName, step), ...ending()]),
      );
    }
  }
}

function toolOf({ tools }: CompletionRequest, wanted: string): string {
  return tools?.find(({ function: { name } }) => name.endsWith(wanted))?.function.name ?? "";
}

/** Sends a cached answer, one write for each piece. */
function send(response: ServerResponse, name: string, make: () => readonly Buffer[]): void {
  let pieces = answers.get(name);
  if (!pieces) answers.set(name, (pieces = make()));
  for (const piece of pieces) response.write(piece);
  response.end();
}

function wholeText(deltas: number): string[] {
  return [...textAnswer(deltas), ...ending("stop")];
}

function inRecords(frames: readonly string[]): readonly Buffer[] {
  const bytes = Buffer.from(frames.join(""));
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += RECORD_BYTES) {
    pieces.push(bytes.subarray(at, at + RECORD_BYTES));
  }
  return pieces;
}

function toBytes(frame: string): Buffer {
  return Buffer.from(frame);
}

/** Sends one time-stamped delta at each beat. A late timer does not shift later beats. */
function pace(response: ServerResponse, deltas: number): void {
  const startMs = performance.now();
  let sent = 0;
  const beat = (): void => {
    if (response.destroyed) return;
    if (sent === deltas) {
      response.end(ending("stop").join(""));
      return;
    }
    response.write(textFrame(`${MARK}${process.hrtime.bigint()};`));
    sent++;
    setTimeout(beat, Math.max(0, startMs + sent * PACE_MS - performance.now()));
  };
  beat();
}
