import { expect, test } from "vitest";
import { createDurableRunGateway } from "../../../src/adapters/run/durable-run-gateway.ts";
import type { RunGateway } from "../../../src/capabilities/run.ts";
import type { RunId } from "../../../src/protocol/identity/ids.ts";
import { viewerAs } from "../../shared/run-object.ts";

const reader = { viewer: viewerAs("acme"), wire: "assistant-transport" };
const runId = "run_of_any_object" as RunId;

/** Gateway to an object that gives the same answer to every `fetch`. */
function gatewayTo(headers: Record<string, string>): RunGateway {
  const object = { fetch: () => Promise.resolve(new Response("stream", { headers })) };
  const namespace = { idFromName: () => "id", get: () => object };
  return createDurableRunGateway(namespace as unknown as DurableObjectNamespace);
}

test.each([
  ["running", "running", undefined],
  ["gone", "gone", "gone"],
  ["too_many_readers", undefined, "too_many_readers"],
  ["of_tomorrow", undefined, undefined],
  [undefined, undefined, undefined],
])("an answer of the kind %s is read, or refused", async (named, start, events) => {
  const gateway = gatewayTo(named === undefined ? {} : { "x-run-answer": named });
  const answers = [
    [gateway.repeat(runId, reader, "hash"), start],
    [gateway.events(runId, reader, undefined), events],
  ] as const;
  for (const [answer, kind] of answers) {
    if (kind === undefined) await expect(answer).rejects.toThrow(`a run answered ${named ?? null}`);
    else expect(await answer).toEqual({ kind });
  }
});

test("hands the stream on without the header of the object", async () => {
  const gateway = gatewayTo({ "x-run-answer": "stream" });
  const answer = await gateway.events(runId, reader, undefined);
  if (answer.kind !== "stream") throw new Error(answer.kind);
  expect(answer.response.headers.get("x-run-answer")).toBeNull();
  expect(await answer.response.text()).toBe("stream");
});
