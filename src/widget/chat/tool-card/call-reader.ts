import { isJsonObject, type JsonObject } from "../../../protocol/json/value.ts";
import { type ApiOptions, sendAuthorised } from "../../../client/send-authorised.ts";
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
export function createCallReader(options: ApiOptions, api: UndoApi): CallReader {
  const read = async ({ runId, toolCallId }: Call, what: string): Promise<Response | undefined> => {
    const call = (await api.calls(runId))?.find((one) => one.toolCallId === toolCallId);
    if (!call) return undefined;
    const invocation = encodeURIComponent(call.invocationId);
    const path = `v1/runs/${encodeURIComponent(runId)}/invocations/${invocation}/${what}`;
    const response = await sendAuthorised(options, path, {});
    return response.ok ? response : undefined;
  };
  return {
    async image(call, number) {
      try {
        const image = await (await read(call, `images/${number}`))?.blob();
        return image && IMAGE_TYPE.test(image.type) ? await toDataUrl(image) : undefined;
      } catch {
        return undefined;
      }
    },
    async result(call) {
      try {
        const body: unknown = await (await read(call, "result"))?.json();
        return isJsonObject(body) ? body : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/** The policy of the page admits data URLs, and no other address of an image. */
async function toDataUrl(image: Blob): Promise<string | undefined> {
  const reader = new FileReader();
  const read = new Promise((resolve) => reader.addEventListener("loadend", resolve));
  reader.readAsDataURL(image);
  await read;
  return typeof reader.result === "string" ? reader.result : undefined;
}
