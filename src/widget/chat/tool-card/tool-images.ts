import { type ApiOptions, sendAuthorised } from "../../api-request.ts";
import type { UndoApi } from "../undo/undo-api.ts";

/** Reads an image of a call as a data URL; undefined when it cannot be read. Never throws. */
export type ReadToolImage = (image: {
  readonly runId: string;
  readonly toolCallId: string;
  /** Counts the images of the call from 1. */
  readonly number: number;
}) => Promise<string | undefined>;

/** Threat: an SVG or a page in place of an image. Other types are not shown. */
const IMAGE_TYPE = /^image\/(?:png|jpeg|gif|webp)$/;

/** Creates the reader of the images that tools answered. */
export function createImageReader(options: ApiOptions, api: UndoApi): ReadToolImage {
  return async ({ runId, toolCallId, number }) => {
    const call = (await api.calls(runId))?.find((one) => one.toolCallId === toolCallId);
    if (!call) return undefined;
    const invocation = encodeURIComponent(call.invocationId);
    const path = `v1/runs/${encodeURIComponent(runId)}/invocations/${invocation}/images/${number}`;
    try {
      const response = await sendAuthorised(options, path, {});
      const image = await response.blob();
      return response.ok && IMAGE_TYPE.test(image.type) ? await toDataUrl(image) : undefined;
    } catch {
      return undefined;
    }
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
