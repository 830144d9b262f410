import { isJsonObject } from "../../protocol/json/value.ts";
import { type ApiOptions, sendAuthorised } from "../../client/send-authorised.ts";

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
  api: ApiOptions,
  { assistantId, model, needsToken }: PageTextsOf,
): Promise<PageTexts | undefined> {
  const query = new URLSearchParams();
  if (assistantId !== undefined) query.set("assistant", assistantId);
  if (model !== undefined) query.set("model", model);
  try {
    const token = await api.token();
    if (needsToken && token === undefined) return undefined;
    const response = await sendAuthorised(
      { ...api, token: () => Promise.resolve(token) },
      `v1/page?${query}`,
      {},
    );
    return response.ok ? readTexts(await response.json()) : undefined;
  } catch {
    return undefined;
  }
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
