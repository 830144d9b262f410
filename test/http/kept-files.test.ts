import { beforeAll, describe, expect, test } from "vitest";
import { ask, image, refusalOf, requestOf, shortly, text } from "../shared/file-messages.ts";
import { dataUrl } from "../shared/files.ts";
import { rowsOf } from "../shared/run-object.ts";
import { runIdOf, seedPolicies, send } from "../shared/worker.ts";

beforeAll(seedPolicies);

describe("the content of a file", () => {
  const MARK = "unique-content";
  const marked = btoa(`\x89PNG\r\n\x1a\n${MARK}`);
  const part = image(dataUrl("image/png", marked));
  /** Counts the files that a run keeps. */
  const countKept = async (runId: string): Promise<number> => {
    const tables = await rowsOf(runId, "SELECT 1 FROM sqlite_master WHERE name = 'files'");
    return tables.length === 0 ? 0 : (await rowsOf(runId, "SELECT 1 FROM files")).length;
  };

  test("is stored once, however often a message and a conversation repeat it", async () => {
    const first = await ask([shortly, part, part]);
    await first.text();
    const firstId = runIdOf(first);
    const second = await ask([shortly, part], { previousRunId: firstId });
    await second.text();
    const third = await ask("three", { previousRunId: runIdOf(second) });
    expect((await requestOf(third)).split(marked)).toHaveLength(4);
    const rows = await Promise.all([firstId, runIdOf(second), runIdOf(third)].map(countKept));
    expect(rows).toEqual([1, 0, 0]);
  });

  test("that is not kept any more is a note, and is stored anew when it is sent again", async () => {
    const first = await ask([shortly, part]);
    await first.text();
    const second = await ask([shortly], { previousRunId: runIdOf(first) });
    await second.text();
    await rowsOf(runIdOf(first), "DELETE FROM files");
    const third = await ask("three", { previousRunId: runIdOf(second) });
    expect(await requestOf(third)).toContain("The image of this message is no longer kept.");
    const fourth = await ask([text("four"), part], { parentId: runIdOf(second) });
    expect((await requestOf(fourth)).split(marked)).toHaveLength(3);
    expect(await countKept(runIdOf(fourth))).toBe(1);
  });

  test("is in no event, state, list, audit record or published answer", async () => {
    const response = await ask([shortly, part]);
    const runId = runIdOf(response);
    const seen = [await response.text()];
    for (const route of [
      `/v1/runs/${runId}`,
      `/v1/runs/${runId}/events`,
      "/v1/runs",
      "/v1/audit",
    ]) {
      seen.push(await (await send(route, { caller: "acme" })).text());
    }
    for (const words of seen) {
      expect(words).not.toContain(marked);
      expect(words).not.toContain(MARK);
    }
  });

  test("is not another tenant's, who knows its run and its hash", async () => {
    const first = await ask([text("one"), part]);
    await first.text();
    const stolen = await ask("two", { previousRunId: runIdOf(first) }, "rival");
    expect((await refusalOf(stolen)).code).toBe("run_not_found");
    const same = await ask([text("mine"), part], {}, "rival");
    await same.text();
    expect(await countKept(runIdOf(same))).toBe(1);
  });
});
