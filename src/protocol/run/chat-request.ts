import * as v from "valibot";
import { requestContext } from "../assistant/context.ts";
import { assistantId } from "../assistant/id.ts";
import { connectionId } from "../connection/stored.ts";
import { workspaceId } from "../workspace/address.ts";
import { IMAGE_TYPES } from "../conversation/file-part.ts";
import { callLimits } from "../policy/limits.ts";
import { lazyPattern } from "../text/lazily.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/value.ts";

const text = v.strictObject({ type: v.literal("text"), text: v.string() });
const toolCall = v.strictObject({
  type: v.literal("tool-call"),
  toolCallId: v.pipe(v.string(), v.nonEmpty()),
  toolName: v.pipe(v.string(), v.nonEmpty(), v.maxLength(128)),
  args: v.custom<JsonObject>(isJsonObject, "a JSON object"),
});
/** Accepted because streams send it. No model reads it. */
const reasoning = v.strictObject({ type: v.literal("reasoning"), text: v.string() });
/** Content beside a result, as streams show it: of an image only what it is. */
const shownContent = v.pipe(
  v.array(
    v.variant("type", [
      text,
      v.strictObject({
        type: v.literal("image"),
        mediaType: v.picklist(IMAGE_TYPES),
        bytes: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
      }),
    ]),
  ),
  v.maxLength(32),
);
const toolResult = v.strictObject({
  type: v.literal("tool-result"),
  toolCallId: v.pipe(v.string(), v.nonEmpty()),
  toolName: v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(128))),
  result: v.custom<JsonValue>((value) => value !== undefined, "a JSON value"),
  /** Says nothing that the result does not say. */
  isError: v.optional(v.boolean()),
  artifact: v.optional(v.strictObject({ content: shownContent })),
  content: v.optional(shownContent),
});
const visibleName = lazyPattern(String.raw`^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,128}$`, "u");
const printable = v.pipe(
  v.string(),
  v.check((name) => visibleName().test(name), "1 to 128 visible characters"),
);
const filename = v.optional(printable);
/** `image` is an https address or a data address. */
const image = v.strictObject({ type: v.literal("image"), image: v.string(), filename });
/** `data` is an https address, a data address or base64. */
const file = v.strictObject({
  type: v.literal("file"),
  data: v.string(),
  mimeType: v.string(),
  filename,
});
const texts = v.union([v.string(), v.array(text)], "a text, or a list of text parts");

/** Accepts the body of `POST /v1/chat`. It is closed: an unknown field is refused. */
export const chatRequestBody = v.strictObject({
  messages: v.pipe(
    v.array(
      v.variant("role", [
        v.strictObject({ role: v.literal("system"), content: texts }),
        v.strictObject({
          role: v.literal("user"),
          content: v.union(
            [v.string(), v.array(v.variant("type", [text, image, file]))],
            "a text, or a list of text, image and file parts",
          ),
        }),
        v.strictObject({
          role: v.literal("assistant"),
          content: v.union(
            [v.string(), v.array(v.variant("type", [text, toolCall, reasoning]))],
            "a text, or a list of text, tool-call and reasoning parts",
          ),
        }),
        v.strictObject({
          role: v.literal("tool"),
          content: v.pipe(
            v.array(toolResult),
            v.minLength(1, "exactly one tool-result"),
            v.maxLength(1, "exactly one tool-result"),
          ),
        }),
      ]),
    ),
    v.minLength(1),
    v.maxLength(1000),
  ),
  assistantId: v.optional(assistantId),
  /** What the page knows, for the model to read as data. */
  context: v.optional(requestContext),
  model: v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(256))),
  toolIds: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(64))), v.maxLength(128))),
  connectionIds: v.optional(v.pipe(v.array(connectionId), v.maxLength(16))),
  /** Absent: the one workspace of which the caller is a member. */
  workspaceId: v.optional(workspaceId),
  /** Limits of this run below those of the policy, which the person may raise again. */
  limits: v.optional(callLimits),
  previousRunId: v.optional(v.pipe(v.string(), v.maxLength(128))),
  /** Id of the first run of the conversation. */
  conversationId: v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(128))),
  /** The client's own name of the conversation, in place of its id. The first post begins it. */
  chatId: v.optional(printable),
  /** The turn to continue, also one that is not the head: a run, or `root`. */
  parentId: v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(128))),
  /** The client's own id of what it sends. */
  messageId: v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(128))),
  /** The same message is answered anew: a new turn begins once the earlier one has ended. */
  regenerate: v.optional(v.literal(true)),
});

export type ChatRequestBody = v.InferOutput<typeof chatRequestBody>;

/** One message of the body. */
export type ChatMessage = ChatRequestBody["messages"][number];

/** A part of a user message that holds a file or its address. Its content is not checked yet. */
export type SentFile = v.InferOutput<typeof image> | v.InferOutput<typeof file>;

/** A part of a user message. */
export type UserContent = v.InferOutput<typeof text> | SentFile;
