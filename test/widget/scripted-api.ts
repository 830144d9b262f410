import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { AiEvent } from "../../src/protocol/run/event.ts";
import { formatEventId, parseEventId } from "../../src/protocol/run/event-id.ts";
import {
  encodeEvent,
  HEARTBEAT,
  TRAILER,
} from "../../src/wire/assistant-transport/encode-event.ts";
import { ScriptedApprovals, type Reply } from "./scripted-approvals.ts";
import { ScriptedGameplan } from "./scripted-gameplan.ts";
import { ScriptedUndo } from "./scripted-undo.ts";
import { conversationOf, ScriptedConversations } from "./scripted-conversations.ts";
import { ScriptedConsents } from "./scripted-consents.ts";
import { ScriptedNotifications } from "./scripted-notifications.ts";
import { ScriptedEscalations } from "./scripted-escalations.ts";
import { ScriptedRuns } from "./scripted-runs.ts";
import { ScriptedOutcomes } from "./scripted-outcomes.ts";

/** The content security policy of the page. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
  "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'";

const FILES: Readonly<Record<string, readonly [string, string]>> = {
  "/": ["index.html", "text/html; charset=utf-8"],
  "/approvals": ["approvals.html", "text/html; charset=utf-8"],
  "/approvals.js": ["approvals.js", "text/javascript"],
  "/runs": ["runs.html", "text/html; charset=utf-8"],
  "/runs.js": ["runs.js", "text/javascript"],
  "/gameplan": ["gameplan.html", "text/html; charset=utf-8"],
  "/gameplan.js": ["gameplan.js", "text/javascript"],
  "/gameplan-shared.js": ["gameplan-shared.js", "text/javascript"],
  "/gameplan-later.js": ["gameplan-later.js", "text/javascript"],
  "/page.css": ["page.css", "text/css"],
  "/widget.js": ["widget.js", "text/javascript"],
  "/widget-tools.js": ["widget-tools.js", "text/javascript"],
  "/widget-markdown.js": ["widget-markdown.js", "text/javascript"],
  "/widget-highlight.js": ["widget-highlight.js", "text/javascript"],
  "/widget-files.js": ["widget-files.js", "text/javascript"],
  "/widget-de.js": ["widget-de.js", "text/javascript"],
  "/embed.js": ["embed.js", "text/javascript"],
  "/language.js": ["language.js", "text/javascript"],
};

/** One request that the API received. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly lastEventId: string | undefined;
  readonly authorization: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly body: string;
}

/** Starts a fake API on a loopback port. The test decides what its runs do. */
export async function startScriptedApi(directory: string): Promise<ScriptedApi> {
  const api = new ScriptedApi(directory);
  await api.listen();
  return api;
}

export class ScriptedApi {
  /** When set, every other token is rejected. */
  token: string | undefined;
  /** When set, requests for events are answered with this status. */
  eventsStatus: number | undefined;
  /** When set, steering messages are answered with this status. */
  messagesStatus: number | undefined;
  /** So many posts are carried out, and their connections are dropped without a response. */
  lostPosts = 0;
  /** Runs whose records are no longer stored. */
  readonly gone = new Set<string>();
  /** When readers of a waiting run should return. */
  returnAfterMs = 50;
  /** What the page shows of its assistant. */
  pageTexts: object = { suggestions: ["What time is it in Tokyo?"] };
  /** Scripts and pages of an embedder, by path. */
  readonly scripts = new Map<string, string>();
  /** Images of calls, by path. */
  readonly images = new Map<string, { readonly type: string; readonly base64: string }>();
  /** Whole results of calls, by path. */
  readonly results = new Map<string, object>();
  readonly approvals = new ScriptedApprovals();
  readonly outcomes = new ScriptedOutcomes();
  readonly escalations = new ScriptedEscalations();
  readonly consents = new ScriptedConsents();
  readonly conversations = new ScriptedConversations();
  readonly notifications = new ScriptedNotifications();
  readonly undo = new ScriptedUndo();
  /** The runs of the page of runs. */
  readonly listed = new ScriptedRuns();
  readonly gameplan = new ScriptedGameplan();
  readonly requests: ApiRequest[] = [];
  readonly runs: ScriptedRun[] = [];
  readonly #directory: string;
  readonly #runsByKey = new Map<string, ScriptedRun>();
  readonly #messageKeys = new Set<string>();
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });

  constructor(directory: string) {
    this.#directory = directory;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  requestsTo(pattern: RegExp): readonly ApiRequest[] {
    return this.requests.filter(({ method, path }) => pattern.test(`${method} ${path}`));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader("content-security-policy", CONTENT_SECURITY_POLICY);
    const path = request.url ?? "/";
    const file = FILES[path.replace(/\?.*/, "")];
    if (file) {
      response.setHeader("content-type", file[1]);
      response.end(await readFile(join(this.#directory, file[0])));
      return;
    }
    const script = this.scripts.get(path);
    if (script !== undefined) {
      const type = path.endsWith(".js") ? "text/javascript" : "text/html; charset=utf-8";
      response.writeHead(200, { "content-type": type }).end(script);
      return;
    }
    const seen = await readRequest(request);
    this.requests.push(seen);
    if (this.token !== undefined && seen.authorization !== `Bearer ${this.token}`) {
      refuse(response, 401, "A valid bearer token is needed.");
    } else if (path.startsWith("/v1/approvals")) this.#answerApproval(seen, response);
    else if (this.escalations.owns(path)) this.#send(this.escalations.answer(seen), response);
    else if (this.consents.owns(path)) this.#send(this.consents.answer(seen), response);
    else if (this.notifications.owns(path)) this.#send(this.notifications.answer(seen), response);
    else if (this.outcomes.owns(path)) this.#send(this.outcomes.answer(seen), response);
    else if (path.includes("/images/")) this.#answerImage(path, response);
    else if (path.endsWith("/result")) this.#answerResult(path, response);
    else if (this.listed.owns(path)) this.#send(this.listed.answer(path, seen.body), response);
    else if (this.conversations.owns(path)) {
      const isGone = this.runs.some(({ id }) => this.gone.has(id));
      this.#send(this.conversations.answer(path, this.runs, isGone), response);
    } else if (this.undo.owns(path)) this.#send(this.undo.answer(seen), response);
    else if (this.gameplan.owns(path)) this.gameplan.answer(seen, response);
    else if (path.startsWith("/v1/page")) {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(this.pageTexts));
    } else if (seen.method === "POST" && path === "/v1/chat") this.#startRun(seen, response);
    else this.#answerRun(seen, response);
  }

  #answerApproval({ method, path, body }: ApiRequest, response: ServerResponse): void {
    const reply = this.approvals.answer(method, path, body);
    const { status } = (reply?.body ?? {}) as { readonly status?: string };
    // A run continues in the moment in which its approval is decided.
    if (method === "POST" && status !== "pending") for (const run of this.runs) run.resume();
    this.#send(reply ?? { status: 404, body: {} }, response);
  }

  #answerImage(path: string, response: ServerResponse): void {
    const image = this.images.get(path);
    if (!image) return refuse(response, 404, "There is no such image.");
    response.writeHead(200, { "content-type": image.type });
    response.end(Buffer.from(image.base64, "base64"));
  }

  #answerResult(path: string, response: ServerResponse): void {
    const body = this.results.get(path);
    if (body) this.#send({ status: 200, body }, response);
    else refuse(response, 404, "There is no such result.");
  }

  #send({ status, body }: Reply, response: ServerResponse): void {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  }

  /** One key starts one run, as in the product. */
  #startRun({ idempotencyKey = "", body }: ApiRequest, response: ServerResponse): void {
    const known = this.#runsByKey.get(idempotencyKey);
    const asked = JSON.parse(body) as ScriptedRun["asked"];
    const { conversationId = "", previousRunId } = asked;
    const head = this.runs.findLast((run) => conversationOf(run) === conversationId)?.id;
    if (!known && this.gone.has(conversationId)) return refuse(response, 410, "It is not kept.");
    if (!known && previousRunId !== undefined && previousRunId !== head) {
      return refuse(response, 409, "Another turn was added.", "conversation_moved");
    }
    const id = `run_${this.runs.length + 1}`;
    const run = known ?? new ScriptedRun(id, asked, () => this.#trailer());
    if (!known) this.runs.push(run);
    if (idempotencyKey !== "") this.#runsByKey.set(idempotencyKey, run);
    if (this.#loses(response)) return;
    if (!known || run.isDone) return run.serve(response);
    response.setHeader("x-run-id", run.id);
    refuse(response, 409, "Follow its run.", "request_in_progress");
  }

  #trailer(): string {
    return TRAILER.replace(/retry: \d+/, `retry: ${this.returnAfterMs}`);
  }

  #loses(response: ServerResponse): boolean {
    if (this.lostPosts === 0) return false;
    this.lostPosts -= 1;
    response.destroy();
    return true;
  }

  #answerRun(request: ApiRequest, response: ServerResponse): void {
    const [, id, what] = /^\/v1\/runs\/(\w+)\/(\w+)$/.exec(request.path) ?? [];
    const run = this.runs.find((candidate) => candidate.id === id);
    if (!run) refuse(response, 404, "There is no such run.");
    else if (this.gone.has(run.id)) refuse(response, 410, "It is not kept.");
    else if (what === "cancel") {
      run.emit({ type: "done", reason: "cancelled", usage: { inputTokens: 1, outputTokens: 1 } });
      response.end("{}");
    } else if (what === "messages") {
      if (this.messagesStatus !== undefined) {
        refuse(response, this.messagesStatus, "The run takes no more messages.");
        return;
      }
      const { content } = JSON.parse(request.body) as { content: string };
      const { idempotencyKey = "" } = request;
      if (!this.#messageKeys.has(idempotencyKey)) run.emit({ type: "user_message", text: content });
      this.#messageKeys.add(idempotencyKey);
      if (!this.#loses(response)) response.writeHead(202).end("{}");
    } else if (this.eventsStatus !== undefined) {
      refuse(response, this.eventsStatus, "The run is not available at the moment.");
    } else run.serve(response, request.lastEventId);
  }
}

/** One run. The test appends to its log. */
export class ScriptedRun {
  readonly id: string;
  /** The body of its request. */
  readonly asked: {
    readonly messages: readonly { readonly content: string }[];
    readonly conversationId?: string;
    readonly previousRunId?: string;
    readonly parentId?: string;
    readonly messageId?: string;
  };
  #frames: { readonly id: string; readonly text: string; readonly event: AiEvent }[] = [];
  #isDone = false;
  #epoch = 0;
  readonly #open = new Set<ServerResponse>();
  readonly #trailer: () => string;
  #isWaiting = false;

  constructor(id: string, asked: ScriptedRun["asked"], trailer: () => string) {
    this.id = id;
    this.asked = asked;
    this.#trailer = trailer;
    this.emit({ type: "run_started", runId: id as never, model: "scripted-model" });
  }

  /** What it told so far. */
  get events(): readonly AiEvent[] {
    return this.#frames.map(({ event }) => event);
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** The number of open connections to this run. */
  get listeners(): number {
    return this.#open.size;
  }

  /** Appends events to the log and sends them to every open connection. */
  emit(...events: readonly AiEvent[]): void {
    for (const event of events) {
      const position = { epoch: this.#epoch, seq: this.#frames.length };
      const text = encodeEvent(event, position);
      this.#frames.push({ id: formatEventId(position), text, event });
      this.#isDone ||= event.type === "done";
      if (event.type === "run_waiting") this.#isWaiting = true;
      else if (event.type !== "approval_updated") this.#isWaiting = false;
    }
    const text = this.#frames.slice(-events.length).map((frame) => frame.text);
    for (const response of this.#open) {
      this.#send(response, text.join(""));
      if (this.#isWaiting) response.end(this.#trailer());
    }
  }

  /** Ends the wait; the next events follow. */
  resume(): void {
    this.#isWaiting = false;
  }

  /** Sends bytes that are not in the log. */
  sendRaw(text: string): void {
    for (const response of this.#open) response.write(text);
  }

  /**
   * Appends an event. The open connections get only its first frame and are then dropped.
   */
  async dropInside(event: AiEvent): Promise<void> {
    const listeners = [...this.#open];
    this.#open.clear();
    this.emit(event);
    const text = this.#frames.at(-1)?.text ?? "";
    const firstFrame = text.slice(0, text.indexOf("\n\n") + 2);
    for (const response of listeners) {
      await new Promise((resolve) => response.write(firstFrame, resolve));
      response.destroy();
    }
  }

  /** Crashes and continues in the next epoch. The last `lost` events were sent but never stored. */
  crash(lost: number): void {
    this.drop();
    this.#frames = this.#frames.slice(0, this.#frames.length - lost);
    this.#epoch += 1;
  }

  drop(): void {
    for (const response of this.#open) response.destroy();
    this.#open.clear();
  }

  serve(response: ServerResponse, lastEventId?: string): void {
    const after = this.#after(lastEventId);
    response.setHeader("x-run-id", this.id);
    response.setHeader("x-conversation-id", conversationOf(this));
    if (this.#isDone && after === this.#frames.length) {
      response.writeHead(204).end();
      return;
    }
    response.setHeader("content-type", "text/event-stream; charset=utf-8");
    response.on("close", () => this.#open.delete(response));
    this.#open.add(response);
    response.write(HEARTBEAT);
    const rest = this.#frames.slice(after).map((frame) => frame.text);
    this.#send(response, rest.join(""));
    if (this.#isWaiting) response.end(this.#trailer());
  }

  /** A reader of an earlier epoch may have seen lost events. It continues after the stored ones. */
  #after(lastEventId: string | undefined): number {
    const seen = lastEventId === undefined ? undefined : parseEventId(lastEventId);
    if (!seen) return 0;
    const stored = this.#frames.findLastIndex(({ id }) => Number.parseInt(id, 10) <= seen.epoch);
    return Math.min(seen.seq, stored) + 1;
  }

  #send(response: ServerResponse, text: string): void {
    response.write(text);
    if (this.#isDone) response.end();
  }
}

async function readRequest(request: IncomingMessage): Promise<ApiRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const lastEventId = request.headers["last-event-id"];
  const idempotencyKey = request.headers["idempotency-key"];
  return {
    method: request.method ?? "",
    path: request.url ?? "",
    lastEventId: typeof lastEventId === "string" ? lastEventId : undefined,
    authorization: request.headers.authorization,
    idempotencyKey: typeof idempotencyKey === "string" ? idempotencyKey : undefined,
    body: Buffer.concat(chunks).toString("utf8"),
  };
}

function refuse(response: ServerResponse, status: number, ...words: [string, string?]): void {
  const [detail, code = "invalid_request"] = words;
  response.writeHead(status, { "content-type": "application/problem+json" });
  response.end(JSON.stringify({ type: "about:blank", title: "Refused", status, detail, code }));
}
