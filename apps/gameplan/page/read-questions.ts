import { type Call, createCall } from "../../../src/client/call.ts";
import { type ClientOptions, toPorts } from "../../../src/client/ports.ts";
import { isJsonObject, type JsonObject } from "../../../src/protocol/json/value.ts";
import { fail, ok, type Result } from "../../../src/protocol/outcome/result.ts";
import { type CallFailure, inWords } from "./api.ts";
import { listOf, numberOf, textOf, textsOf } from "./read-json.ts";

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
  /** Absent: the words of somebody else, which the server shows to nobody but them. */
  readonly words?: { readonly asked: string; readonly answered: string };
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
  const words = await readWords(call, of, runs);
  const items = runs.map((run) => toQuestion(run, words));
  return ok({ items, hasMore: next !== "" });
}

type Words = ReadonlyMap<string, NonNullable<Question["words"]>>;

function toQuestion(run: JsonObject, words: Words): Question {
  const runId = textOf(run, "runId");
  const known = words.get(runId);
  return {
    runId,
    status: textOf(run, "status"),
    askedBy: textOf(run, "subjectId") || textOf(run, "actorId"),
    at: textOf(run, "createdAt"),
    tools: textsOf(run, "toolIds"),
    ...(known && { words: known }),
  };
}

/** Reads what was asked and answered in some runs, from the reader's own conversations. */
async function readWords(
  call: Call,
  of: { readonly assistant?: string },
  runs: readonly JsonObject[],
): Promise<Words> {
  const [first, last] = [runs[0], runs.at(-1)];
  if (!first || !last) return new Map();
  const [newest, oldest] = [textOf(first, "createdAt"), textOf(last, "createdAt")];
  const conversations = await readUntil(
    async (cursor) => call("GET /v1/conversations", { query: { ...of, limit: 100, ...cursor } }),
    "conversations",
    (conversation) => textOf(conversation, "updatedAt") < oldest,
  );
  const own = conversations.filter(
    (one) => numberOf(one, "turns") > 0 && textOf(one, "createdAt") <= newest,
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
  return new Map(turns.flat().map((turn) => [textOf(turn, "runId"), wordsOf(turn)]));
}

/** Reads a list, the newest first, up to the entry that is too old. What fails is left out. */
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
    const end = listed.findIndex(isTooOld);
    entries.push(...(end < 0 ? listed : listed.slice(0, end)));
    next = textOf(body, "next");
    if (end >= 0 || next === "") break;
  }
  return entries;
}

function wordsOf(turn: JsonObject): NonNullable<Question["words"]> {
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
