import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { SEES } from "../shared/file-messages.ts";
import { PNG } from "../shared/files.ts";
import { refusalOf, rowsOf } from "../shared/run-object.ts";
import { govern, postChat, runIdOf, seedPolicies, send, type Caller } from "../shared/worker.ts";
import { gallery } from "../workers/lab-images.ts";

const GIF = btoa("GIF89a and pixels");
const image = (base64: string, mediaType: string) => ({ type: "image", mediaType, base64 });

beforeAll(async () => {
  await seedPolicies();
  await govern({ allowedTools: ["lab__illustrate"] });
});
beforeEach(() => {
  gallery.content = [
    image(PNG, "image/png"),
    { type: "text", text: "Figure 2" },
    image(GIF, "image/gif"),
  ];
});

/** Starts a run of one call that answers the gallery; returns its id. */
async function show(caller: Caller, more: object = {}): Promise<string> {
  const steps: ScriptedStep[] = [
    { calls: [{ id: crypto.randomUUID(), name: "lab__illustrate", args: "{}" }] },
    { text: ["Nice."] },
  ];
  const messages = [{ role: "user", content: script(...steps) }];
  const response = await postChat({ messages, model: SEES, ...more }, caller);
  await response.text();
  return runIdOf(response);
}

const read = (runId: string, what: string, caller?: Caller): Promise<Response> =>
  send(`/v1/runs/${runId}/invocations/${what}`, caller ? { caller } : {});

async function base64Of(response: Response): Promise<string> {
  return btoa(String.fromCharCode(...new Uint8Array(await response.arrayBuffer())));
}

describe("the image of a call", () => {
  test("is its bytes under its own type, and a browser saves it as a file", async () => {
    const runId = await show("lab");
    const first = await read(runId, "inv_1/images/1", "lab");
    expect(first.status).toBe(200);
    expect(Object.fromEntries(first.headers)).toMatchObject({
      "content-type": "image/png",
      "content-disposition": 'attachment; filename="image-1.png"',
      "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringContaining("default-src 'none'"),
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "private, no-store",
    });
    expect(await base64Of(first)).toBe(PNG);
    const second = await read(runId, "inv_1/images/2", "lab");
    expect(second.headers.get("content-type")).toBe("image/gif");
    expect(await base64Of(second)).toBe(GIF);
  });

  test("that an earlier run of the conversation keeps is read through the later run", async () => {
    const first = await show("lab");
    const second = await show("lab", { previousRunId: first });
    expect(await base64Of(await read(second, "inv_1/images/1", "lab"))).toBe(PNG);
    await rowsOf(first, "DELETE FROM files");
    const lost = await read(second, "inv_1/images/1", "lab");
    expect(await refusalOf(lost)).toEqual([404, "image_not_found"]);
  });

  test.each([
    "inv_1/images/0",
    "inv_1/images/3",
    "inv_1/images/01",
    "inv_1/images/1e0",
    "inv_2/images/1",
    "inv_1/images/-1",
    "x/images/1",
  ])("%s does not exist", async (what) => {
    const refused = await read(await show("lab"), what, "lab");
    expect(await refusalOf(refused)).toEqual([404, "image_not_found"]);
  });
});

describe("the image of somebody else's call", () => {
  test.each(["mallory", "rival", "lab", "victorsAgent"] as const)(
    "is an unknown run to %s",
    async (caller) => {
      const runId = await show("victor");
      expect((await read(runId, "inv_1/images/1", "victor")).status).toBe(200);
      const refused = await read(runId, "inv_1/images/1", caller);
      const invented = await read(`run_${"0".repeat(40)}`, "inv_1/images/1", caller);
      expect([refused.status, await refused.text()]).toEqual([404, await invented.text()]);
    },
  );

  test("needs a token with runs:read", async () => {
    const runId = await show("lab");
    expect((await read(runId, "inv_1/images/1")).status).toBe(401);
    expect((await read(runId, "inv_1/images/1", "talker")).status).toBe(403);
  });
});
