import * as v from "valibot";
import type { ConversationState } from "../../capabilities/conversation.ts";
import type { ShownPart, ShownTurn } from "../../protocol/conversation/shown.ts";
import { cutText } from "../../protocol/text/whole-characters.ts";

/** Forms in which a conversation leaves. */
export const exportFormat = v.optional(v.picklist(["json", "markdown"]), "json");

/** Writes a conversation as one document, turn by turn. */
export interface ExportForm {
  readonly contentType: string;
  readonly extension: string;
  begin(state: ConversationState): string;
  turn(turn: ShownTurn, isFirst: boolean): string;
  end(): string;
}

const JSON_FORM: ExportForm = {
  contentType: "application/json",
  extension: "json",
  begin: (state) => `{"conversation":${JSON.stringify(state)},"turns":[`,
  turn: (turn, isFirst) => `${isFirst ? "" : ","}\n${JSON.stringify(turn)}`,
  end: () => "\n]}\n",
};

const MARKDOWN_FORM: ExportForm = {
  contentType: "text/markdown; charset=utf-8",
  extension: "md",
  begin: ({ title, conversationId }) => `# ${oneLine(title ?? conversationId)}\n`,
  turn: formatTurn,
  end: () => "",
};

export const EXPORT_FORMS = { json: JSON_FORM, markdown: MARKDOWN_FORM } as const;

/** Turns of an export, and where the next ones begin. */
export interface ExportPage {
  readonly turns: readonly ShownTurn[];
  readonly next: number | undefined;
}

/**
 * Streams a conversation page by page, as fast as the client reads. Contract: holds one page in
 * memory; a page that cannot be read breaks the stream, so a whole JSON document is a whole export.
 */
export function streamExport(
  form: ExportForm,
  state: ConversationState,
  read: (after: number | undefined) => Promise<ExportPage>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let after: number | undefined;
  let isFirst = true;
  return new ReadableStream(
    {
      async pull(controller) {
        let text = isFirst ? form.begin(state) : "";
        const { turns, next } = await read(after);
        for (const turn of turns) {
          text += form.turn(turn, isFirst);
          isFirst = false;
        }
        after = next;
        if (next === undefined) text += form.end();
        controller.enqueue(encoder.encode(text));
        if (next === undefined) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Longest result of a call in a document for people. Unit: UTF-16 code units. */
const MAX_RESULT_CHARS = 2_000;

function formatTurn({ runId, parentId, createdAt, status, messages }: ShownTurn): string {
  const after = parentId === undefined ? "" : `, after ${parentId}`;
  const texts = messages.map((message) => {
    if (message.role === "user") {
      const files = (message.files ?? []).map(({ name, type }) => `[${oneLine(name ?? type)}]`);
      return `**Person:**\n\n${quote([message.text, ...files].join("\n"))}`;
    }
    if (!("parts" in message)) return `**Posted as an answer:**\n\n${quote(message.text)}`;
    return `**Assistant:**\n\n${message.parts.map(formatPart).join("\n\n")}`;
  });
  return `\n---\n\n${createdAt}, ${status}, ${runId}${after}\n\n${texts.join("\n\n")}\n`;
}

function formatPart(part: ShownPart): string {
  if (part.type !== "tool-call") {
    return `${part.type === "text" ? "" : "Reasoning:\n\n"}${quote(part.text)}`;
  }
  const { toolName, args, result, approval } = part;
  const approved = approval ? ` (approval: ${approval.status})` : "";
  const shown = cutText(JSON.stringify(result?.result_payload.data ?? null), MAX_RESULT_CHARS);
  return `Call of ${toolName}${approved}:\n\n${quote(`${JSON.stringify(args ?? {})}\n${shown}`)}`;
}

/**
 * Threat: a text pretends to be another speaker, or a heading. So every line of a text is a quote.
 */
function quote(text: string): string {
  return text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => `> ${line}`)
    .join("\n");
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}
