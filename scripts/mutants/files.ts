import type { Mutant } from "./mutant.ts";

const TEST = "test/http/message-files.test.ts";
const SENT_FILE = "src/protocol/conversation/sent-file.ts";
const HTTP = "src/http/claim/message-files.ts";

/** What keeps files of messages harmless, bounded, and with their owner. */
export const FILES: readonly Mutant[] = [
  {
    name: "the bytes of a file are not compared with its type",
    file: SENT_FILE,
    from: "return beginsAs(mediaType, base64)",
    to: "return true",
    test: { file: TEST, name: "an SVG that says it is a PNG" },
  },
  {
    name: "a document may be an image",
    file: SENT_FILE,
    from: 'if (part.type === "image" && type !== "image") return fail(UNKNOWN_TYPE);',
    to: "",
    test: { file: TEST, name: "a document as an image" },
  },
  {
    name: "any https address may be an image",
    file: SENT_FILE,
    from: "!isPublicHttps(url) ||",
    to: "",
    test: { file: TEST, name: "the metadata of a cloud" },
  },
  {
    name: "an address may hold credentials",
    file: SENT_FILE,
    from: ' || url.username !== "" || url.password !== ""',
    to: "",
    test: { file: TEST, name: "credentials in the address" },
  },
  {
    name: "base64 is not checked",
    file: SENT_FILE,
    from: "if (!isBase64(base64)) return fail(NOT_BASE64);",
    to: "",
    test: { file: TEST, name: "base64 with line breaks" },
  },
  {
    name: "the files of a message have no size limit",
    file: SENT_FILE,
    from: "if (bytes > MAX_MESSAGE_FILE_BYTES) {",
    to: "if (false) {",
    test: { file: TEST, name: "3 MiB a message pass, and one byte more does not" },
  },
  {
    name: "a message may hold any number of files",
    file: SENT_FILE,
    from: "if (++files > MAX_MESSAGE_FILES || parts.size >= MAX_REQUEST_FILES) {",
    to: "if (parts.size >= MAX_REQUEST_FILES) {",
    test: { file: TEST, name: "ten thousand small ones are too many, in one message or in many" },
  },
  {
    name: "a request may hold any number of files",
    file: SENT_FILE,
    from: "if (++files > MAX_MESSAGE_FILES || parts.size >= MAX_REQUEST_FILES) {",
    to: "if (++files > MAX_MESSAGE_FILES) {",
    test: { file: TEST, name: "ten thousand small ones are too many, in one message or in many" },
  },
  {
    name: "a large body passes for a model without files",
    file: HTTP,
    from: "if (parts.length === 0 && bodyBytes > MAX_BODY_BYTES && !takesFiles(model)) {",
    to: "if (false) {",
    test: { file: TEST, name: "for a model that takes no files, a body over 1 MiB is too large" },
  },
  {
    name: "a model gets files that it cannot take",
    file: HTTP,
    from: "const untaken = parts.find((part) => !canTake(part, model));",
    to: "const untaken = parts.find(() => false);",
    test: { file: TEST, name: "refuses an image" },
  },
  {
    name: "files without a bound pass a budget of tokens",
    file: HTTP,
    from: "if (!isLimited) return undefined;",
    to: "if (isLimited || !isLimited) return undefined;",
    test: {
      file: TEST,
      name: "is refused where a budget limits tokens and no bound of an image is known",
    },
  },
  {
    name: "images cost no tokens",
    file: "src/wire/model/message-parts.ts",
    from: 'if (type === "image") tokens += can.maxImageTokens ?? Infinity;',
    to: "",
    test: { file: TEST, name: "the tokens of images count in what a budget holds" },
  },
  {
    name: "a file is stored again with each request",
    file: HTTP,
    from: "const fresh = [...files.contents].filter(([hash]) => !kept.has(hash));",
    to: "const fresh = [...files.contents];",
    test: {
      file: "test/http/kept-files.test.ts",
      name: "is stored once, however often a message and a conversation repeat it",
    },
  },
  {
    name: "a run gives its files to everyone",
    file: "src/run/answers.ts",
    from: "if (missing) return missing;\n    const kept = hashes.flatMap",
    to: "const kept = hashes.flatMap",
    test: {
      file: "test/durable-objects/stored-files.test.ts",
      name: "only its readers get the files of a run",
    },
  },
];
