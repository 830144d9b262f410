import { runInDurableObject } from "cloudflare:test";
import { beforeAll, expect, test } from "vitest";
import { crashes } from "../workers/lab-crashes.ts";
import { effects } from "../workers/lab-tools.ts";
import { releaseUrl } from "../fakes/scripted-model.ts";
import { bindings, chat, runIdOf, seedPolicies, send, stateOf } from "../shared/worker.ts";

beforeAll(seedPolicies);

test("a local effect is recorded durably before it happens, so no crash repeats it", async () => {
  const call = { name: "lab__act_and_crash", args: '{"text":"once"}' };
  const response = await chat([{ text: ["Well"], holds: "sync", calls: [call] }], "lab");
  const runId = runIdOf(response);
  const stub = bindings.RUNS.get(bindings.RUNS.idFromName(runId));
  await runInDurableObject(stub, (_object, state) => {
    crashes.set(runId, () => state.abort("crash"));
  });
  const broken = response.text().catch(() => {});
  await fetch(releaseUrl("sync"));
  await broken;
  await expect.poll(async () => (await stateOf(runId, "lab")).status).toBe("waiting");
  expect(effects.filter((effect) => effect === "acted: once").length).toBe(1);
  const [toolCall] = (await stateOf(runId, "lab")).toolCalls;
  expect(toolCall).toMatchObject({ state: "PENDING", awaitsOutcomeUntil: expect.any(String) });
  await send(`/v1/runs/${runId}/cancel`, { caller: "lab", method: "POST" });
  expect(await stateOf(runId, "lab")).toMatchObject({
    status: "cancelled",
    toolCalls: [{ state: "EXPIRED" }],
  });
  expect(effects.filter((effect) => effect === "acted: once").length).toBe(1);
});
