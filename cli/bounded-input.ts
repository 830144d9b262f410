import { CommandError } from "./command.ts";

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
const MAX_LINE_CHARS = 4 * 1024 * 1024;

/**
 * Reads the whole body of an answer.
 * Threat: a server that never ends its answer, and so fills the memory.
 * Fails: rejects with a CommandError above 8 MiB; the rest is not read.
 */
export async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new CommandError("its answer is longer than 8 MiB");
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * Splits a stream into lines, without their ends.
 * Threat: a line that never ends.
 * Fails: throws a CommandError above 4 Mi characters in one line; the rest is not read.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield line.replace(/\r$/, "");
    if (rest.length > MAX_LINE_CHARS) {
      throw new CommandError("A line is longer than 4 Mi characters. The rest was not read.");
    }
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}
