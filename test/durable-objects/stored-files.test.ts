import { evictDurableObject } from "cloudflare:test";
import { beforeAll, expect, test } from "vitest";
import type { FilesAnswer } from "../../src/capabilities/run.ts";
import type { Viewer } from "../../src/protocol/identity/viewer.ts";
import { script } from "../fakes/scripted-model.ts";
import { dataUrl, largePng } from "../shared/files.ts";
import {
  crash,
  deadlinesOf,
  ring,
  rowsOf,
  stubOf,
  untilState,
  viewerAs,
} from "../shared/run-object.ts";
import { postChat, runIdOf, seedPolicies, send } from "../shared/worker.ts";

beforeAll(seedPolicies);

interface FileMethods {
  files(viewer: Viewer, hashes: readonly string[]): Promise<FilesAnswer>;
}
const keeperOf = (runId: string) => stubOf(runId) as unknown as FileMethods;

/** Starts a run with one image, which takes several rows. */
async function start(mark: string) {
  const base64 = largePng(2 * 1024 * 1024, mark);
  const image = { type: "image", image: dataUrl("image/png", base64) };
  const content = [{ type: "text", text: script({ text: ["Nice."] }) }, image];
  const model = "claude-sonnet-5";
  const response = await postChat({ messages: [{ role: "user", content }], model });
  const runId = runIdOf(response);
  const rows = await rowsOf(runId, "SELECT hash FROM files");
  return { response, runId, base64, hash: rows[0]?.["hash"] as string, rows: rows.length };
}

test("only its readers get the files of a run", async () => {
  const { response, runId, base64, hash, rows } = await start("readers");
  await response.text();
  expect(rows).toBe(2);
  const unknown = "sha256:0";
  expect(await keeperOf(runId).files(viewerAs("acme"), [hash, unknown])).toEqual({
    kind: "files",
    files: { [hash]: base64 },
  });
  for (const caller of ["rival", "peer"] as const) {
    expect(await keeperOf(runId).files(viewerAs(caller), [hash])).toEqual({ kind: "unknown" });
  }
});

test("a run that crashed before its model call sends the file all the same", async () => {
  const base64 = largePng(64, "crash");
  const content = [{ type: "image", image: dataUrl("image/png", base64) }];
  const model = "claude-sonnet-5";
  const runId = runIdOf(await postChat({ messages: [{ role: "user", content }], model }));
  await crash(runId);
  await untilState(runId, { status: "completed" }, "acme");
  const events = await send(`/v1/runs/${runId}/events`, { caller: "acme" });
  // The model answers with the request that it got.
  expect(await events.text()).toContain(base64);
});

test("the conversation keeps the files of its first run", async () => {
  const { response, runId, hash, base64 } = await start("retention");
  await response.text();
  await expect.poll(() => deadlinesOf(runId)).toHaveProperty("retention");
  await ring(runId, "retention");
  const kept = { kind: "files", files: { [hash]: base64 } };
  expect(await keeperOf(runId).files(viewerAs("acme"), [hash])).toEqual(kept);
  await evictDurableObject(stubOf(runId));
  expect(await keeperOf(runId).files(viewerAs("acme"), [hash])).toEqual(kept);
});
