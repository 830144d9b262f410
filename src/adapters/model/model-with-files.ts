import type { FileShelf } from "../../capabilities/files.ts";
import type { Model, ModelRequest } from "../../capabilities/model.ts";
import { keptFilesOf } from "../../protocol/conversation/kept-files.ts";
import type { ModelAnswer, ModelEvent } from "../../protocol/model/event.ts";

/**
 * Builds a Model that adds the content of files to each request.
 * Contract: that of Model. Fails: upstream_unreachable, when a file cannot be read at the moment.
 */
export function createModelWithFiles(model: Model, files: FileShelf): Model {
  return {
    stream: (request, signal) => {
      const kept = keptFilesOf(request.messages);
      if (kept.size === 0) return model.stream(request, signal);
      return streamWithFiles({ model, files }, { ...request }, signal);
    },
  };
}

async function* streamWithFiles(
  { model, files }: { readonly model: Model; readonly files: FileShelf },
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelEvent[], void, undefined> {
  const contents = await load(files, request);
  if (contents) return yield* model.stream({ ...request, files: contents }, signal);
  const failure = { code: "upstream_unreachable", detail: "a file cannot be read" } as const;
  const answer: ModelAnswer = { text: "", toolCalls: [], finish: "error", failure };
  yield [{ type: "answer", answer }];
}

function load(
  files: FileShelf,
  { messages }: ModelRequest,
): Promise<ReadonlyMap<string, string> | undefined> {
  return files.load(keptFilesOf(messages).values()).catch(() => undefined);
}
