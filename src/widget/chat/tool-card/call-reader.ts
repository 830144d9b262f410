import { isJsonObject, type JsonObject } from "../../../protocol/json/value.ts";
import { createCall } from "../../../client/call.ts";
import { type ClientOptions, toPorts } from "../../../client/ports.ts";
import type { UndoApi } from "../undo/undo-api.ts";

interface Call {
  readonly runId: string;
  readonly toolCallId: string;
}

/** Reads what the stream does not hold of a call. Contract: neither throws. */
export interface CallReader {
  /** An image as a data URL, counted from 1; undefined when it cannot be read. */
  image(call: Call, number: number): Promise<string | undefined>;
  /** The whole of a result that was cut; undefined when it is not kept, or cannot be read. */
  result(call: Call): Promise<JsonObject | undefined>;
}

/** Threat: an SVG or a page in place of an image. Other types are not shown. */
const IMAGE_TYPE = /^image\/(?:png|jpeg|gif|webp)$/;

/** Creates the reader of a conversation's calls. */
export function createCallReader(options: ClientOptions, api: UndoApi): CallReader {
  const call = createCall(toPorts(options));
  const find = async ({ runId: id, toolCallId }: Call) => {
    const found = (await api.calls(id))?.find((one) => one.toolCallId === toolCallId);
    return found && { id, invocationId: found.invocationId };
  };
  return {
    async image(of, number) {
      const path = await find(of);
      const read = path && (await call(IMAGE, { path: { ...path, name: `${number}` } }));
      const image = read?.ok ? await read.value.blob().catch(() => undefined) : undefined;
      return image && IMAGE_TYPE.test(image.type) ? toDataUrl(image) : undefined;
    },
    async result(of) {
      const path = await find(of);
      const read = path && (await call(RESULT, { path }));
      const body: unknown = read?.ok && read.value;
      return isJsonObject(body) ? body : undefined;
    },
  };
}

const IMAGE = "GET /v1/runs/{id}/invocations/{invocationId}/images/{name}";
const RESULT = "GET /v1/runs/{id}/invocations/{invocationId}/result";

/** The policy of the page admits data URLs, and no other address of an image. */
async function toDataUrl(image: Blob): Promise<string | undefined> {
  const reader = new FileReader();
  const read = new Promise((resolve) => reader.addEventListener("loadend", resolve));
  reader.readAsDataURL(image);
  await read;
  return typeof reader.result === "string" ? reader.result : undefined;
}
