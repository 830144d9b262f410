import { beforeAll, describe, expect, test } from "vitest";
import { createCachedAssistants } from "../../src/adapters/cached-assistants.ts";
import { createDurableRunGateway } from "../../src/adapters/durable-run-gateway.ts";
import type { RunMethods } from "../../src/capabilities/run.ts";
import type { AuthorisedRequest } from "../../src/http/authorise.ts";
import { chooseAssistant } from "../../src/http/choose-assistant.ts";
import type { AssistantDocument } from "../../src/protocol/assistant/document.ts";
import type { RunId } from "../../src/protocol/identity/ids.ts";
import { hashOf } from "../../src/protocol/json/canonical-hash.ts";
import { releaseUrl, script } from "../fakes/scripted-model.ts";
import { FakeClock } from "../../src/testing/fake-clock.ts";
import { stubOf, viewerAs } from "../shared/run-object.ts";
import { runIdOf, seedPolicies, send } from "../shared/worker.ts";

beforeAll(seedPolicies);

const reader = { viewer: viewerAs("acme"), wire: "assistant-transport" };
const UNKNOWN_RUN = "run_never_started";

/**
 * Starts a run under a key. Its model waits until `release`. Answers the run id and the hash of the
 * request.
 */
async function startHeld(word: string): Promise<{ runId: string; requestHash: string }> {
  const body = {
    messages: [{ role: "user", content: script({ text: ["a"], holds: word }) }],
  };
  const response = await send("/v1/chat", {
    caller: "acme",
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": `"${word}"` },
    body: JSON.stringify(body),
  });
  await response.body?.cancel();
  return { runId: runIdOf(response), requestHash: await hashOf(body) };
}

/** Releases the model, so that the run ends. */
async function release(runId: string, word: string): Promise<void> {
  await fetch(releaseUrl(word));
  await (await send(`/v1/runs/${runId}/events`, { caller: "acme" })).text();
}

describe("a Worker of the previous release calls an object of this one", () => {
  /** Requests as the previous gateway did: without a wire, and reading only the status. */
  async function statusOf(
    runId: string,
    path: string,
    headers: Record<string, string> = {},
  ): Promise<number> {
    const asked = { "x-viewer": JSON.stringify(reader.viewer), ...headers };
    const response = await stubOf(runId).fetch(`https://run${path}`, { headers: asked });
    await response.body?.cancel();
    return response.status;
  }

  test("gets the statuses of the previous release", async () => {
    const { runId, requestHash } = await startHeld("previous-worker");
    const repeat = (hash: string): Promise<number> =>
      statusOf(runId, "/repeat", { "x-request-hash": hash });
    expect(await statusOf(UNKNOWN_RUN, "/repeat", { "x-request-hash": requestHash })).toBe(404);
    expect(await statusOf(UNKNOWN_RUN, "/events")).toBe(404);
    expect(await repeat(requestHash)).toBe(409);
    expect(await repeat("sha256:other")).toBe(422);
    expect(await statusOf(runId, "/events")).toBe(200);
    expect(await statusOf(runId, "/events", { "last-event-id": "9-9" })).toBe(409);
    await release(runId, "previous-worker");
    expect(await repeat(requestHash)).toBe(200);
    const events = await send(`/v1/runs/${runId}/events`, { caller: "acme" });
    const last = [...(await events.text()).matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? "";
    expect(await statusOf(runId, "/events", { "last-event-id": last })).toBe(204);
  });

  test("finds the methods of the previous release under their names", async () => {
    const run = stubOf(UNKNOWN_RUN) as DurableObjectStub & RunMethods;
    const { viewer } = reader;
    const principal = { tenantId: "acme", actorId: "user:acme", scopes: [], roles: [] } as never;
    const address = { invocation: 1, generation: 1, principal };
    const report = { invocation: 1, outcome: "committed", by: viewer.actor } as const;
    const answers = await Promise.all([
      run.state(viewer),
      run.cancel(viewer),
      run.steer(viewer, { text: "hello" }),
      run.settle(viewer, report),
      run.transcript(viewer),
      run.approval(address),
      run.decide(address, { decision: "approve" }),
    ]);
    expect(answers).toEqual(answers.map(() => ({ kind: "unknown" })));
  });
});

describe("a Worker of this release", () => {
  /** Gateway to an object that gives the same answer to every `fetch`. */
  function gatewayTo(status: number, headers: Record<string, string> = {}) {
    const object = {
      fetch: () =>
        Promise.resolve(new Response(status === 200 ? "stream" : null, { status, headers })),
    };
    const namespace = { idFromName: () => "id", get: () => object };
    return createDurableRunGateway(namespace as unknown as DurableObjectNamespace);
  }
  const runId = "run_of_another_release" as RunId;

  test.each([
    [200, "stream", "stream"],
    [204, undefined, "ended"],
    [404, "unknown", "unknown"],
    [409, "running", "position_unknown"],
    [410, "gone", "gone"],
    [422, "other_request", undefined],
    [429, undefined, "too_many_readers"],
  ])("reads the status %i of an object of the previous release", async (status, start, events) => {
    const gateway = gatewayTo(status);
    if (start) expect(await gateway.repeat(runId, reader, "hash")).toMatchObject({ kind: start });
    else await expect(gateway.repeat(runId, reader, "hash")).rejects.toThrow("a run answered");
    if (events)
      expect(await gateway.events(runId, reader, undefined)).toMatchObject({ kind: events });
    else await expect(gateway.events(runId, reader, undefined)).rejects.toThrow("a run answered");
  });

  test("reads the kind that an object names, not the status", async () => {
    const gateway = gatewayTo(200, { "x-run-answer": "gone" });
    expect(await gateway.events(runId, reader, undefined)).toEqual({ kind: "gone" });
  });

  test("refuses a kind that it does not know", async () => {
    const gateway = gatewayTo(200, { "x-run-answer": "of_tomorrow" });
    await expect(gateway.events(runId, reader, undefined)).rejects.toThrow("of_tomorrow");
  });

  test("hands the stream on without the header of the object", async () => {
    const answer = await gatewayTo(200, { "x-run-answer": "stream" }).events(
      runId,
      reader,
      undefined,
    );
    if (answer.kind !== "stream") throw new Error(answer.kind);
    expect(answer.response.headers.get("x-run-answer")).toBeNull();
    expect(await answer.response.text()).toBe("stream");
  });
});

test("a tenant's object of a release without assistants is a 503, and no assistant stands in", async () => {
  const missing = new TypeError("The RPC receiver does not implement the method");
  const assistants = createCachedAssistants({
    registry: { read: () => Promise.reject(missing) },
    clock: new FakeClock(),
    declared: new Map([["default", {} as AssistantDocument]]),
  });
  const request = { principal: { tenantId: "acme" }, services: { assistants } };
  for (const id of [undefined, "default", "support"]) {
    const found = await chooseAssistant(request as unknown as AuthorisedRequest, id);
    if (found.ok) throw new Error("an assistant stands in");
    expect(found.failure.status).toBe(503);
    expect(found.failure.headers.get("retry-after")).toBe("1");
    expect(await found.failure.json()).toMatchObject({ code: "assistant_unavailable" });
  }
});
