import { type Call, createCall } from "../../../src/client/call.ts";
import { type ClientOptions, toPorts } from "../../../src/client/ports.ts";
import { projectOf } from "../../../src/protocol/audit/named-project.ts";
import { isJsonObject, type JsonObject } from "../../../src/protocol/json/value.ts";
import { fail, ok, type Result } from "../../../src/protocol/outcome/result.ts";
import { type CallFailure, inWords } from "./api.ts";
import { listOf, numberOf, objectOf, textOf, textsOf } from "./read-json.ts";

/** Questions of one page. */
const QUESTIONS_OF_PAGE = 25;
/** Most pages of one list that are read for a page of questions. */
const MOST_PAGES = 4;

/** A question to the assistant. */
export interface Question {
  readonly runId: string;
  /** Of the run; see docs/http.md. */
  readonly status: string;
  readonly askedBy: string;
  /** ISO 8601. */
  readonly at: string;
  /** Ids of the tools that were called. */
  readonly tools: readonly string[];
  /** Absent: somebody else asked, and the server shows their words to nobody but them. */
  readonly own?: OwnQuestion;
}

/** What the reader's own chat tells of a question. */
interface OwnQuestion {
  readonly asked: string;
  readonly answered: string;
  /** Ids of the projects that it was about. None: no call in its chat named one. */
  readonly projectIds: readonly string[];
}

export interface Questions {
  readonly items: readonly Question[];
  readonly hasMore: boolean;
}

/**
 * Reads the newest questions to an assistant that the reader may see. Direct calls, which a page
 * makes to read and to write, are none.
 * Contract: never throws; what was read for one page grows with that page alone.
 */
export async function readQuestions(
  server: ClientOptions,
  assistantId: string | undefined,
  pages: number,
): Promise<Result<Questions, CallFailure>> {
  const call = createCall(toPorts(server));
  const of = assistantId === undefined ? {} : { assistant: assistantId };
  const runs: JsonObject[] = [];
  let next = "";
  for (let page = 1; page <= pages; page += 1) {
    const cursor = next === "" ? {} : { cursor: next };
    const query = { kind: "chat" as const, limit: QUESTIONS_OF_PAGE, ...of, ...cursor };
    const read = await call("GET /v1/runs", { query });
    if (!read.ok) return fail(inWords(read.failure));
    const body = toObject(read.value);
    runs.push(...listOf(body, "runs"));
    next = textOf(body, "next");
    if (next === "") break;
  }
  const own = await readOwn(call, of, runs);
  const items = runs.map((run) => toQuestion(run, own.get(textOf(run, "runId"))));
  return ok({ items, hasMore: next !== "" });
}

function toQuestion(run: JsonObject, own: OwnQuestion | undefined): Question {
  return {
    runId: textOf(run, "runId"),
    status: textOf(run, "status"),
    askedBy: textOf(run, "subjectId") || textOf(run, "actorId"),
    at: textOf(run, "createdAt"),
    tools: textsOf(run, "toolIds"),
    ...(own && { own }),
  };
}

/** Reads what the reader asked in some runs, from the reader's own conversations. */
async function readOwn(
  call: Call,
  of: { readonly assistant?: string },
  runs: readonly JsonObject[],
): Promise<ReadonlyMap<string, OwnQuestion>> {
  const [first, last] = [runs[0], runs.at(-1)];
  if (!first || !last) return new Map();
  const [newest, oldest] = [textOf(first, "createdAt"), textOf(last, "createdAt")];
  const conversations = await readUntil(
    async (cursor) => call("GET /v1/conversations", { query: { ...of, limit: 100, ...cursor } }),
    "conversations",
    (conversation) => textOf(conversation, "updatedAt") < oldest,
  );
  const own = conversations.filter(
    (one) =>
      numberOf(one, "turns") > 0 &&
      textOf(one, "createdAt") <= newest &&
      textOf(one, "updatedAt") >= oldest,
  );
  const turns = await Promise.all(
    own.map((conversation) => {
      const path = { id: textOf(conversation, "conversationId") };
      return readUntil(
        async (cursor) =>
          call("GET /v1/conversations/{id}/messages", { path, query: { limit: 25, ...cursor } }),
        "turns",
        (turn) => textOf(turn, "createdAt") < oldest,
      );
    }),
  );
  return new Map(turns.flatMap(toOwnQuestions));
}

/** Reads a list, the newest first, up to a page with an entry too old. What fails is left out. */
async function readUntil(
  read: (cursor: { readonly cursor?: string }) => Promise<Result<unknown, unknown>>,
  name: string,
  isTooOld: (entry: JsonObject) => boolean,
): Promise<readonly JsonObject[]> {
  const entries: JsonObject[] = [];
  let next = "";
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const answer = await read(next === "" ? {} : { cursor: next });
    if (!answer.ok) break;
    const body = toObject(answer.value);
    const listed = listOf(body, name);
    entries.push(...listed);
    next = textOf(body, "next");
    if (next === "" || listed.some(isTooOld)) break;
  }
  return entries;
}

/**
 * Reads the turns of one conversation, the newest first. A turn whose calls name no project is
 * about that of the nearest turn before it, else of the nearest after it.
 */
function toOwnQuestions(turns: readonly JsonObject[]): (readonly [string, OwnQuestion])[] {
  const named = turns.map(projectsOf);
  return turns.map((turn, at) => {
    const nearest = [...named.slice(at), ...named.slice(0, at).toReversed()];
    const projectIds = nearest.find((ids) => ids.length > 0) ?? [];
    return [textOf(turn, "runId"), { ...wordsOf(turn), projectIds }];
  });
}

/** The projects that the calls of a turn name. */
function projectsOf(turn: JsonObject): readonly string[] {
  const parts = listOf(turn, "messages").flatMap((message) => listOf(message, "parts"));
  return parts.flatMap((part) => {
    const output = objectOf(objectOf(objectOf(part, "result"), "result_payload"), "data");
    return projectOf(objectOf(part, "args"), output) ?? [];
  });
}

function wordsOf(turn: JsonObject): Pick<OwnQuestion, "asked" | "answered"> {
  const messages = listOf(turn, "messages");
  const said = (role: string) => messages.filter((message) => textOf(message, "role") === role);
  const asked = said("user").map((message) => textOf(message, "text"));
  const parts = said("assistant").flatMap((message) => listOf(message, "parts"));
  const texts = parts.filter((part) => textOf(part, "type") === "text");
  const last = texts.at(-1);
  return { asked: asked.join("\n").trim(), answered: last ? textOf(last, "text").trim() : "" };
}

function toObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
