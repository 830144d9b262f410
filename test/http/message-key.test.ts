import { beforeAll, expect, test } from "vitest";
import { refusalOf, rowsOf } from "../shared/run-object.ts";
import { releaseUrl } from "../fakes/scripted-model.ts";
import { chat, runIdOf, seedPolicies, send, type Caller } from "../shared/worker.ts";

beforeAll(seedPolicies);

function say(
  runId: string,
  { content, key, caller = "acme" }: { content: string; key: string; caller?: Caller },
): Promise<Response> {
  return send(`/v1/runs/${runId}/messages`, {
    caller,
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify({ content }),
  });
}

const noticesOf = async (runId: string): Promise<readonly unknown[]> =>
  (await rowsOf(runId, "SELECT body ->> 'text' AS body FROM inbox ORDER BY seq")).map(
    ({ body }) => body,
  );

test("a message under a key is taken once, for each person, and its repetition is answered after the end", async () => {
  const response = await chat([{ text: ["one"], holds: "keyed" }], "clerk");
  const runId = runIdOf(response);
  const message = { content: "hurry", key: "m-1" };
  const taken = await Promise.all([say(runId, message), say(runId, message)]);
  expect(taken.map(({ status }) => status)).toEqual([202, 202]);
  expect(await noticesOf(runId)).toEqual(["hurry"]);
  const other = await say(runId, { ...message, content: "slow down" });
  expect(await refusalOf(other)).toEqual([422, "request_key_reused"]);
  const another = await say(runId, { content: "me too", key: "m-1", caller: "clerk" });
  expect(another.status).toBe(202);
  expect(await noticesOf(runId)).toEqual(["hurry", "me too"]);
  await fetch(releaseUrl("keyed"));
  await response.text();
  expect((await say(runId, message)).status).toBe(202);
  const late = await say(runId, { content: "late", key: "m-2" });
  expect(await refusalOf(late)).toEqual([409, "run_ended"]);
});

test.each(["", "a, b", "k".repeat(256)])("a key like %j is refused", async (key) => {
  const response = await chat([{ text: ["hi"] }]);
  await response.text();
  const refused = await say(runIdOf(response), { content: "hi", key });
  expect(await refusalOf(refused)).toEqual([400, "request_key_invalid"]);
});
