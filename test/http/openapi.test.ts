import { expect, test } from "vitest";
import { apiDocument } from "../shared/api-document.ts";
import { send } from "../shared/worker.ts";

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
