import { expect, test } from "vitest";
import { apiDocument } from "../shared/api-document.ts";
import { checkDescribed } from "../shared/described-answers.ts";
import { send } from "../shared/worker.ts";

const PROBLEM = { type: "about:blank", title: "No.", status: 400, code: "run_not_found" };
const operations = Object.values(apiDocument.paths).flatMap((methods) => Object.values(methods));

test("/openapi.json is the document, for everybody", async () => {
  const response = await send("/openapi.json");
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toContain("application/json");
  expect(await response.json()).toEqual(apiDocument);
});

test("/docs shows every route without a script, under the policy of all pages", async () => {
  const response = await send("/docs");
  expect(response.status).toBe(200);
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  const page = await response.text();
  expect(operations.filter(({ operationId }) => !page.includes(`id="${operationId}"`))).toEqual([]);
  expect(page).not.toMatch(/<script|<style| style=|(?:src|href)="http/);
  expect((await send("/docs.css")).status).toBe(200);
});

test.each([
  ["a field", 200, {}, { runs: [], more: 1 }, "/more: is not described"],
  ["a field of an entry", 200, {}, { runs: [{ id: 1 }] }, "/runs/0/runId: is missing"],
  ["a code", 404, {}, { ...PROBLEM, status: 404, code: "run_gone" }, "it has no such status"],
  ["a code of another status", 400, {}, PROBLEM, "/code: has no such value"],
  ["a header", 200, { etag: '"1"' }, { runs: [] }, "it has no header etag there"],
])("an answer with %s that the document lacks fails its test", async (...row) => {
  const [, status, headers, body, why] = row;
  const type = status === 200 ? "application/json" : "application/problem+json";
  const answer = Response.json(body, { status, headers: { "content-type": type, ...headers } });
  const request = new Request("https://interlock.test/v1/runs");
  await expect(checkDescribed(request, answer)).rejects.toThrow(why);
});
