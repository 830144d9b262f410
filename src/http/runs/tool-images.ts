import { viewerOf } from "../../protocol/identity/viewer.ts";
import { readInvocationId } from "../../protocol/invocation/id.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";
import { refuseRun } from "./refuse-run.ts";

/** Reads the images that tools answered. */
export const TOOL_IMAGE_ROUTES: Routes = {
  "/v1/runs/:id/invocations/:invocationId/images/:name": {
    GET: { scope: "runs:read", handle: getImage },
  },
};

/**
 * `GET /v1/runs/:id/invocations/:invocationId/images/:name`: the bytes of an image of a call;
 * the name is its number, from 1.
 * Threat: an image that a browser opens as a page of this origin. The runner has compared its type,
 * one of four, with the first bytes; and a browser that opens the address saves a file.
 */
async function getImage(authorised: AuthorisedRequest): Promise<Response> {
  const { principal, services, id, invocationId, name } = authorised;
  const viewer = viewerOf(principal);
  const runId = await services.runIds.verifyFor(id, viewerOf(principal));
  if (!runId) return problem("run_not_found");
  const number = /^[1-9]\d?$/.test(name) ? Number(name) : 0;
  const found = await services.runs.of(runId).image(viewer, readInvocationId(invocationId), number);
  if (found.kind === "unknown_image") return problem("image_not_found");
  if (found.kind !== "image") return refuseRun(found);
  // An earlier run of the conversation may keep the content. That run checks the viewer too.
  const { hash, keeper, mediaType } = found.file;
  const kept = await services.runs.of(keeper).files(viewer, [hash]);
  const base64 = kept.kind === "files" ? kept.files[hash] : undefined;
  if (base64 === undefined) return problem("image_not_found");
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  return new Response(bytes, {
    headers: {
      "content-type": mediaType,
      "content-disposition": `attachment; filename="image-${number}.${mediaType.slice(6)}"`,
      "cache-control": "private, no-store",
    },
  });
}
