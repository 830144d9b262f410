import { isJsonObject } from "../../protocol/json/value.ts";
import { createCall } from "../../client/call.ts";
import { type CallPorts, toPorts } from "../../client/ports.ts";
import type { TakenFiles } from "./files/attached-file.ts";

/** What the page shows of its assistant. */
export interface PageTexts {
  readonly heading?: string;
  readonly suggestions: readonly string[];
  readonly takes: TakenFiles;
}

/** Whose texts to read. */
interface PageTextsOf {
  /** Absent: the assistant that the token names, or the default one. */
  readonly assistantId: string | undefined;
  /** Absent: the model that the token or the assistant names, or the default one. */
  readonly model: string | undefined;
  /** Without a token nothing is asked, because the server would refuse the page. */
  readonly needsToken: boolean;
}

/**
 * Reads the texts of the page's assistant. Contract: never throws; undefined when they cannot be
 * read. The page then shows its own texts.
 */
export async function loadPageTexts(
  api: CallPorts,
  { assistantId, model, needsToken }: PageTextsOf,
): Promise<PageTexts | undefined> {
  const token = await api.token().catch(() => undefined);
  if (needsToken && token === undefined) return undefined;
  const call = createCall(toPorts({ ...api, token }));
  const query = {
    ...(assistantId !== undefined && { assistant: assistantId }),
    ...(model !== undefined && { model }),
  };
  const read = await call("GET /v1/page", { query });
  return read.ok ? readTexts(read.value) : undefined;
}

function readTexts(body: unknown): PageTexts | undefined {
  if (!isJsonObject(body)) return undefined;
  const { heading, suggestions, takes } = body;
  const { images, documents } = isJsonObject(takes) ? takes : {};
  const questions = Array.isArray(suggestions) ? suggestions : [];
  return {
    ...(typeof heading === "string" && { heading }),
    suggestions: questions.filter((question) => typeof question === "string"),
    takes: { images: images === true, documents: documents === true },
  };
}
