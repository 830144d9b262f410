import type { RunId } from "../identity/ids.ts";
import { hashText } from "../json/canonical-hash.ts";
import { isPublicHttps } from "../connection/public-address.ts";
import { fail, ok, type Result } from "../outcome/result.ts";
import type { ChatMessage, SentFile, UserContent } from "../run/chat-request.ts";
import { beginsAs, bytesOf, isBase64, isMediaType, MEDIA_TYPES } from "./file-content.ts";
import type { FilePart, MediaType } from "./file-part.ts";

/** Most bytes of the files of one message. */
export const MAX_MESSAGE_FILE_BYTES = 3 * 1024 * 1024;
/** Most bytes of the files of one conversation, because every model call sends all of them. */
export const MAX_CONVERSATION_FILE_BYTES = 12 * 1024 * 1024;
/** Most files of one message, and of all messages of one request. */
const MAX_MESSAGE_FILES = 16;
const MAX_REQUEST_FILES = 64;
const MAX_ADDRESS_CHARS = 2_048;

/** Why a file is refused. `message` says what is wrong and repeats nothing of the file. */
export interface FileFailure {
  readonly code: "file_invalid" | "files_too_large";
  readonly pointer: string;
  readonly message: string;
}

/** The files of a request. */
export interface SentFiles {
  /** What the transcript holds of a part that a client sent. */
  readonly parts: ReadonlyMap<SentFile, FilePart>;
  /** Content in base64, by hash. */
  readonly contents: ReadonlyMap<string, string>;
}

/**
 * Reads the files of client-sent messages. `keeper` is the run that the request starts.
 * Threat: content whose type lies, or a type that a browser or a provider would run, such as SVG;
 * an address inside a private network; thousands of small files. Nothing is fetched.
 * Contract: linear in the messages.
 */
export async function readSentFiles(
  messages: readonly ChatMessage[],
  keeper: RunId,
): Promise<Result<SentFiles, FileFailure>> {
  const files = { parts: new Map(), contents: new Map(), keeper } satisfies Collected;
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== "user" || typeof content === "string") continue;
    const failure = await collect(content, `/messages/${index}/content`, files);
    if (failure) return fail(failure);
  }
  return ok(files);
}

interface Collected {
  readonly parts: Map<SentFile, FilePart>;
  readonly contents: Map<string, string>;
  readonly keeper: RunId;
}

/** Collects the files of one message. Fails: why the first bad one is refused. */
async function collect(
  content: readonly UserContent[],
  messagePointer: string,
  { parts, contents, keeper }: Collected,
): Promise<FileFailure | undefined> {
  let bytes = 0;
  let files = 0;
  for (const [at, part] of content.entries()) {
    if (part.type === "text") continue;
    const pointer = `${messagePointer}/${at}`;
    if (++files > MAX_MESSAGE_FILES || parts.size >= MAX_REQUEST_FILES) {
      return { code: "files_too_large", pointer, message: TOO_MANY };
    }
    const read = readFile(part);
    if (!read.ok) return { code: "file_invalid", pointer, message: read.failure };
    const { type, url, content: inline } = read.value;
    const named = { type, ...(part.filename !== undefined && { name: part.filename }) };
    if (!inline) {
      parts.set(part, { ...named, source: { kind: "address", url } });
      continue;
    }
    const { base64, mediaType } = inline;
    const size = bytesOf(base64);
    bytes += size;
    if (bytes > MAX_MESSAGE_FILE_BYTES) {
      return { code: "files_too_large", pointer, message: TOO_LARGE };
    }
    const hash = await hashText(base64);
    contents.set(hash, base64);
    parts.set(part, { ...named, source: { kind: "kept", hash, mediaType, bytes: size, keeper } });
  }
  return undefined;
}

const TOO_MANY = `is one file too many: ${MAX_MESSAGE_FILES} a message, ${MAX_REQUEST_FILES} in all`;
const TOO_LARGE = `makes the files of the message larger than ${MAX_MESSAGE_FILE_BYTES} bytes`;

interface ReadFile {
  readonly type: FilePart["type"];
  /** "" for content. */
  readonly url: string;
  readonly content?: { readonly mediaType: MediaType; readonly base64: string };
}

function readFile(part: SentFile): Result<ReadFile, string> {
  const text = part.type === "image" ? part.image : part.data;
  const named = part.type === "image" ? undefined : part.mimeType;
  if (named !== undefined && !isMediaType(named)) return fail(UNKNOWN_TYPE);
  const [, scheme = "data"] = /^([a-z][a-z0-9+.-]*):/i.exec(text.slice(0, 64)) ?? [];
  if (scheme.toLowerCase() !== "data") return readAddress(text, typeOf(named ?? "image/"));
  const [, inline] = /^data:([a-z0-9.+/-]+);base64,/i.exec(text.slice(0, 64)) ?? [];
  const mediaType = inline?.toLowerCase() ?? named;
  if (mediaType === undefined || !isMediaType(mediaType)) return fail(UNKNOWN_TYPE);
  if (named !== undefined && named !== mediaType) return fail(OTHER_TYPE);
  const type = typeOf(mediaType);
  if (part.type === "image" && type !== "image") return fail(UNKNOWN_TYPE);
  const base64 = inline === undefined ? text : text.slice(text.indexOf(",") + 1);
  if (!isBase64(base64)) return fail(NOT_BASE64);
  return beginsAs(mediaType, base64)
    ? ok({ type, url: "", content: { mediaType, base64 } })
    : fail(OTHER_TYPE);
}

function readAddress(text: string, type: FilePart["type"]): Result<ReadFile, string> {
  const url = text.length <= MAX_ADDRESS_CHARS ? URL.parse(text) : null;
  if (!url || !isPublicHttps(url) || url.username !== "" || url.password !== "") {
    return fail(NOT_PUBLIC);
  }
  return ok({ type, url: url.href });
}

function typeOf(mediaType: string): FilePart["type"] {
  return mediaType.startsWith("image/") ? "image" : "file";
}

const UNKNOWN_TYPE = `is not of one of these types: ${MEDIA_TYPES.join(", ")}`;
const OTHER_TYPE = "does not hold what its type says";
const NOT_BASE64 = "is neither an address, nor base64, nor a data address with base64";
const NOT_PUBLIC = `is not a public https address of at most ${MAX_ADDRESS_CHARS} characters`;
