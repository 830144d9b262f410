import { beforeAll, expect, test } from "vitest";
import { apiDocument, type DescribedOperation } from "../shared/api-document.ts";
import { untilState } from "../shared/run-object.ts";
import { chat, runIdOf, seedPolicies, send, stateOf, type Caller } from "../shared/worker.ts";

interface Sent {
  readonly name: string;
  readonly path: string;
  readonly method: string;
  readonly operation: DescribedOperation;
}

/** What makes something comes before what reads it, and what takes it away comes last. */
const ORDER = ["PUT", "POST", "PATCH", "GET", "DELETE"];
const operations: readonly Sent[] = Object.entries(apiDocument.paths)
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([named, operation]) => {
      const method = named.toUpperCase();
      return { name: `${method} ${path}`, path, method, operation };
    }),
  )
  .toSorted((a, b) => placeOf(a) - placeOf(b));

/** A new policy would forbid what the other examples ask for. */
function placeOf({ name, method }: Sent): number {
  return name === "PUT /v1/policy" ? ORDER.length : ORDER.indexOf(method);
}

/** What stands in place of the ids of the examples. */
const ids: Record<string, string> = {};

beforeAll(seedPolicies);

/** Makes what the examples name: an answered question, and a call that waits for approval. */
async function prepare(): Promise<void> {
  // A tenant's first record is no part of an erasure.
  await send("/v1/people/user:hosted/export", { caller: "ada" });
  const calls = [{ name: "core__generate_title", args: '{"title":"A call with Tokyo"}' }];
  const waiting = runIdOf(await chat([{ calls }, { text: ["done"] }], "hosted"));
  await untilState(waiting, { status: "waiting" }, "hosted");
  const answered = await chat([{ text: ["It is nine."] }], "hosted");
  await answered.text();
  const [call] = (await stateOf(waiting, "hosted")).toolCalls;
  Object.assign(ids, {
    run_4Qm9xT2cVb7K_pZ1sR8wLq0dE: runIdOf(answered),
    appr_4Qm9xT2cVb7K_pZ1sR8wLq0dE_1_1: call?.approvalId,
    "user:ann": "user:hosted",
  });
}

/** People, metrics and providers have callers of their own. */
function callerOf(scope: string | undefined): Caller | undefined {
  if (scope === undefined) return undefined;
  if (scope.startsWith("people:")) return "ada";
  if (scope.startsWith("providers:")) return "supplier";
  return scope === "metrics:read" ? "gauge" : "hosted";
}

function fill(text: string): string {
  return Object.entries(ids).reduce((filled, [id, real]) => filled.replaceAll(id, real), text);
}

async function sendExample({ path, method, operation }: Sent): Promise<Response> {
  const { parameters, requestBody, security } = operation;
  const caller = callerOf(security[0]?.["token"]?.[0]);
  const examples = parameters.flatMap(({ name, in: place, example }) =>
    example === undefined ? [] : [[place, name, String(example)] as const],
  );
  const of = (wanted: string) => examples.filter(([place]) => place === wanted);
  const filled = of("path").reduce((part, [, name, id]) => part.replace(`{${name}}`, id), path);
  const query = new URLSearchParams(of("query").map(([, name, value]) => [name, fill(value)]));
  const headers = new Headers(of("header").map(([, name, value]) => [name, value]));
  // Both conditions have an example, and a request has one of them.
  if (headers.has("if-match")) {
    headers.delete(path === "/v1/policy" || method === "DELETE" ? "if-none-match" : "if-match");
  }
  if (headers.has("idempotency-key")) headers.set("idempotency-key", crypto.randomUUID());
  if (requestBody) headers.set("content-type", "application/json");
  const body = requestBody?.content["application/json"]?.example;
  return send(`${fill(filled)}${query.size > 0 ? `?${query.toString()}` : ""}`, {
    method,
    headers,
    ...(caller && { caller }),
    ...(body !== undefined && { body: fill(JSON.stringify(body)) }),
  });
}

interface Refusal {
  readonly code?: string;
  readonly error?: { readonly code: string };
}

/** What the examples name that is not there. */
const NOT_THERE: Readonly<Record<string, string>> = {
  "DELETE /v1/consents/{id}": "consent_not_found",
  "GET /v1/responses/{id}": "run_not_found",
  "GET /v1/runs/{id}/invocations/{invocationId}/images/{name}": "image_not_found",
  "GET /v1/runs/{id}/invocations/{invocationId}/result": "result_not_kept",
  "GET /v1/workspaces/{name}/{id}/changes": "workspace_not_found",
  "POST /v1/escalations/{id}": "escalation_not_found",
  "POST /v1/notifications/{id}/retry": "notification_not_found",
  "POST /v1/responses/{id}/cancel": "run_not_found",
  "POST /v1/runs/{id}/invocations/{invocationId}/compensate": "invocation_not_found",
  "POST /v1/runs/{id}/invocations/{invocationId}/outcome": "invocation_not_found",
  "POST /v1/runs/{id}/messages": "run_ended",
};

test("every example of a request is taken, and answered as the document says", async () => {
  await prepare();
  const codes: Record<string, string> = {};
  for (const sent of operations) {
    const response = await sendExample(sent);
    const text = await response.text();
    if (response.status < 300) continue;
    const { code, error } = JSON.parse(text) as Refusal;
    codes[sent.name] = code ?? error?.code ?? text;
  }
  expect(codes).toEqual(NOT_THERE);
});
