import { viewerOf } from "../../protocol/identity/viewer.ts";
import type { RunId } from "../../protocol/identity/ids.ts";
import { parseEventId, type EventPosition } from "../../protocol/run/event-id.ts";
import { callIdOf, customEvent, frameOf, type AgUiEvent } from "../../wire/ag-ui/encode-event.ts";
import { agUiWire } from "../../wire/ag-ui/wire.ts";
import type { Question } from "../../protocol/approval/question.ts";
import { readApprovalId } from "../../protocol/approval/id.ts";
import { CONSENT_REACHES, type LastingOffer } from "../../protocol/consent/lasting.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { followRun } from "../runs/runs.ts";
import type { AgUiPost } from "./ag-ui-post.ts";
import { snapshotEvent } from "./ag-ui-snapshot.ts";

/** What one post is told. */
export interface Telling {
  readonly authorised: AuthorisedRequest;
  readonly post: AgUiPost;
  readonly runId: RunId;
  /** The client's own id of what the run answers. */
  readonly messageId: string;
  /** The position after which the response begins; undefined for all of the run. */
  readonly after: EventPosition | undefined;
  /** What comes before the events of the run. */
  readonly first: readonly AgUiEvent[];
}

/** Begins an event that the names of the post belong into. */
const BOUNDARY = 'data: {"type":"RUN_';
const WITHDRAWAL = `data: {"type":"CUSTOM","name":"interlock:text_withdrawn"`;

/**
 * Tells a client of AG-UI what its run does, under the names that its post gives: it begins with
 * RUN_STARTED and ends with RUN_FINISHED or RUN_ERROR, whatever part of the run it carries.
 * Ownership: the stream owns the body of the response; who leaves it cancels the body.
 */
export function tellRun(telling: Telling, response: Response): Response {
  const { body } = response;
  if (!response.ok || !body) return response;
  const open: Open = { body };
  const frames = tell(telling, open);
  const utf8 = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await frames.next();
      if (done) controller.close();
      else controller.enqueue(utf8.encode(value));
    },
    // A generator that waits for its body takes no return.
    cancel: () => open.reader?.cancel(),
  });
  return new Response(stream, response);
}

/** The body that is read. */
interface Open {
  readonly body: ReadableStream<Uint8Array>;
  reader?: ReadableStreamDefaultReader<Uint8Array>;
}

async function* tell(telling: Telling, open: Open): AsyncGenerator<string> {
  const { authorised, post, runId, first } = telling;
  const { threadId, runId: named } = post;
  const metadata = { interlock: { runId } };
  const started = { type: "RUN_STARTED", threadId, runId: named, protocolVersion: "1.0", metadata };
  yield [started, ...toolsNote(post), ...first].map(frameOf).join("");
  const seen: Seen = { position: telling.after, isWithdrawn: false, isWaiting: false };
  for (let { body } = open; ;) {
    seen.isWaiting = false;
    open.reader = body.getReader();
    yield* readFrames(telling, seen, open.reader);
    if (!seen.isWaiting) return;
    const ending = await endingOf(telling);
    if (ending) return yield ending.map(frameOf).join("");
    // Somebody decided meanwhile, and the run goes on.
    const more = await followRun(authorised, { runId, wire: agUiWire, after: seen.position });
    if (!more.ok || !more.body) throw new Error(`${more.status}`);
    ({ body } = more);
  }
}

/** No tool of a client runs here. CopilotKit names some in each post, so they are no failure. */
function toolsNote({ tools }: AgUiPost): readonly AgUiEvent[] {
  const names = tools.map(({ name }) => name);
  return names.length > 0 ? [customEvent("tools_ignored", { names })] : [];
}

/** What the frames so far have told. */
interface Seen {
  position: EventPosition | undefined;
  isWithdrawn: boolean;
  isWaiting: boolean;
}

/**
 * Reads whole frames, as a read may end in the middle of one, and puts the names of the post into
 * those that carry names.
 */
async function* readFrames(
  telling: Telling,
  seen: Seen,
  reader: ReadableStreamDefaultReader<Uint8Array>,
): AsyncGenerator<string> {
  const utf8 = new TextDecoder();
  let rest = "";
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const frames = (rest + utf8.decode(read.value, { stream: true })).split(/(?<=\n\n)/);
    rest = frames.at(-1)?.endsWith("\n\n") ? "" : (frames.pop() ?? "");
    let text = "";
    for (const frame of frames) text += await nameFrame(telling, seen, frame);
    if (text !== "") yield text;
  }
}

/** Answers what the client is told in place of a frame. */
async function nameFrame(telling: Telling, seen: Seen, frame: string): Promise<string> {
  seen.position = parseEventId(frame.split("\nid: ")[1]?.trim() ?? "") ?? seen.position;
  seen.isWithdrawn ||= frame.startsWith(WITHDRAWAL);
  if (!frame.startsWith(BOUNDARY)) return frame;
  if (frame.startsWith(`${BOUNDARY}STARTED"`)) return "";
  seen.isWaiting = frame === agUiWire.trailer;
  if (seen.isWaiting) return "";
  const snapshot = seen.isWithdrawn ? frameOf(await readSnapshot(telling)) : "";
  return snapshot + frameOf(named(telling.post, frame));
}

/** Versions before 1.0 know no run that was cancelled. */
function named({ threadId, runId, protocolVersion }: AgUiPost, frame: string): AgUiEvent {
  const event = JSON.parse(frame.slice(6, frame.indexOf("\n"))) as AgUiEvent;
  if (event.type === "RUN_ERROR") return event;
  const { outcome, usage } = event as { outcome?: { type: string }; usage?: unknown };
  return outcome?.type === "cancelled" && protocolVersion === undefined
    ? { type: "RUN_ERROR", message: outcome.type, code: outcome.type, usage }
    : { ...event, threadId, runId };
}

async function readSnapshot(telling: Telling): Promise<AgUiEvent> {
  const { authorised, post, runId, messageId } = telling;
  const { principal, services } = authorised;
  const answer = await services.runs.of(runId).shown(viewerOf(principal));
  if (answer.kind !== "shown") throw new Error(answer.kind);
  const { messages: posted } = post;
  return snapshotEvent({ posted, shown: answer.run, messageId, isToldAnew: false });
}

/**
 * Ends a stream whose run waits: with a question for each approval that this person may answer, or
 * with the news that others must. Undefined: the run does not wait any more.
 */
async function endingOf(telling: Telling): Promise<readonly AgUiEvent[] | undefined> {
  const { authorised, post, runId } = telling;
  const { principal, services } = authorised;
  const answer = await services.runs.of(runId).state(viewerOf(principal));
  if (answer.kind !== "run" || answer.state.status !== "waiting") return undefined;
  const open = answer.state.toolCalls.flatMap(({ approvalId }) => approvalId ?? []);
  const asked = await Promise.all(open.map((id) => askHere(authorised, id)));
  const interrupts = asked.flat();
  const { threadId, runId: named } = post;
  const finished = { type: "RUN_FINISHED", threadId, runId: named };
  if (interrupts.length === 0) return [{ ...finished, result: { status: "waiting" } }];
  return [
    { type: "STATE_SNAPSHOT", snapshot: post.state ?? {} },
    await readSnapshot(telling),
    { ...finished, outcome: { type: "interrupt", interrupts } },
  ];
}

/** The answer to a question; `lasting` only where policy offers it to this person. */
function responseSchema(offer: LastingOffer | undefined): object {
  const reaches = offer?.within === "assistant" ? CONSENT_REACHES : ["conversation"];
  const lasting = {
    type: "object",
    properties: {
      within: { enum: reaches },
      calls: { type: "integer", minimum: 1, maximum: offer?.maxCalls },
      until: { type: "string", format: "date-time" },
      sameArguments: { const: true },
    },
  };
  return {
    type: "object",
    properties: {
      approved: { type: "boolean" },
      reason: { type: "string" },
      editedArgs: { type: "object" },
      ...(offer && { lasting }),
    },
    required: ["approved"],
  };
}

/** A field of a form may have any name, so the answer stands in a field of its own. */
function answerSchema({ schema }: Question): object {
  const properties = { answer: schema, reason: { type: "string" } };
  return { type: "object", properties, required: ["answer"] };
}

/** Builds the question about one approval; none where others must answer. */
async function askHere(
  { principal, services }: AuthorisedRequest,
  approvalId: string,
): Promise<readonly object[]> {
  const name = readApprovalId(approvalId);
  if (!name || !principal.scopes.includes("approvals:decide")) return [];
  const runId = name.runId as RunId;
  const answer = await services.runs.of(runId).approval({ ...name, principal });
  if (answer.kind !== "approval" || answer.mayNot) return [];
  const { title, toolCallId, expiresAt, packet, lines } = answer.approval;
  const { question } = packet;
  return [
    {
      id: approvalId,
      reason: question ? "question" : "tool_call",
      message: lines.find(({ field }) => field === "question")?.text ?? title,
      toolCallId: callIdOf(runId, toolCallId),
      responseSchema: question ? answerSchema(question) : responseSchema(answer.lasting),
      expiresAt,
      metadata: { interlock: { packet, lines } },
    },
  ];
}
