import { script } from "../fakes/scripted-model.ts";
import { dataUrl, PDF, PNG } from "./files.ts";
import { chunksOf, postChat } from "./worker.ts";

/** A model that takes images and documents. */
export const SEES = "claude-sonnet-5";
export const image = (address: string) => ({ type: "image", image: address });
export const png = image(dataUrl("image/png", PNG));
export const pdf = { type: "file", data: PDF, mimeType: "application/pdf", filename: "plan.pdf" };
export const text = (words: string) => ({ type: "text", text: words });
/** A message that is answered in one word. A free text is answered with the whole request. */
export const shortly = text(script({ text: ["Nice."] }));

export const ask = (
  content: unknown,
  more: object = {},
  caller: Parameters<typeof postChat>[1] = "acme",
) => postChat({ messages: [{ role: "user", content }], model: SEES, ...more }, caller);

export async function refusalOf(response: Response) {
  const { code, errors, detail } = await response.json<{
    code: string;
    errors?: readonly { pointer: string; message: string }[];
    detail?: string;
  }>();
  return { status: response.status, code, pointer: errors?.[0]?.pointer, detail };
}

/** Reads what the provider got. The message must not be a script. */
export async function requestOf(response: Response): Promise<string> {
  const chunks = await chunksOf(response);
  return chunks.map(({ textDelta }) => (typeof textDelta === "string" ? textDelta : "")).join("");
}
