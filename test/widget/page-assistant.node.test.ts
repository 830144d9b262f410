import { beforeEach, expect, it } from "vitest";
import type { Visit } from "./open-page.ts";
import * as say from "./run-events.ts";
import { usePage } from "./use-page.ts";

let visit: Visit;
const open = usePage((opened) => {
  visit = opened;
});
beforeEach(() => open());

const set = (attribute: string, value = ""): Promise<unknown> =>
  visit.page.evaluate(
    `document.querySelector("interlock-chat").setAttribute("${attribute}", "${value}")`,
  );
/** Reloads the page, whose server needs no token. */
async function reload(): Promise<void> {
  await visit.page.reload();
  await set("tokenless");
}

const button = (name: string) => visit.page.getByRole("button", { name });

it("shows the heading and the suggestions of the assistant, as text", async () => {
  const heading = "Welcome <b>back</b>";
  visit.api.pageTexts = { assistantId: "shop", heading, suggestions: ["Where is my order?"] };
  await reload();
  await visit.page.getByRole("heading", { name: heading }).waitFor();
  await button("Where is my order?").click();
  await expect.poll(() => visit.api.runs.length).toBe(1);
  expect(visit.api.requestsTo(/POST \/v1\/chat/)[0]?.body).toContain("Where is my order?");
});

it("shows its own heading and no suggestion where the assistant has none", async () => {
  visit.api.pageTexts = { suggestions: [] };
  await reload();
  await visit.page.getByRole("heading", { name: "What would you like to know?" }).waitFor();
  expect(await visit.page.getByRole("list", { name: "Suggestions" }).count()).toBe(0);
});

it("asks for the assistant that the attribute names", async () => {
  await set("tokenless");
  await set("assistant", "shop");
  await expect.poll(() => visit.api.requestsTo(/\/v1\/page\?assistant=shop/).length).toBe(1);
  await visit.ask("hello");
  expect(visit.api.requestsTo(/POST \/v1\/chat/)[0]?.body).toContain('"assistantId":"shop"');
});

it("asks for nothing before it has a token", async () => {
  await visit.page.getByRole("textbox", { name: "Message" }).waitFor();
  await visit.ask("hello");
  expect(visit.api.requestsTo(/\/v1\/page/)).toEqual([]);
});

it("asks with the token of a page that sets it late", async () => {
  await visit.page.addInitScript(
    `addEventListener("DOMContentLoaded", () => {
       document.querySelector("interlock-chat").getToken = () => "a-token";
     })`,
  );
  visit.api.pageTexts = { heading: "Welcome", suggestions: [] };
  await visit.page.reload();
  await visit.page.getByRole("heading", { name: "Welcome" }).waitFor();
});

it("keeps the conversations of two assistants apart, with one token", async () => {
  await set("tokenless");
  await set("assistant", "shop");
  (await visit.ask("A question to the shop")).emit(say.end());
  await visit.page.getByRole("log").getByText("A question to the shop").waitFor();
  await set("assistant", "desk");
  await expect.poll(() => visit.api.requestsTo(/conversations\?.*assistant=desk/).length).toBe(1);
  await visit.page.getByRole("textbox", { name: "Message" }).waitFor();
  await visit.ask("A question to the desk");
  const bodies = visit.api.requestsTo(/POST \/v1\/chat/).map(({ body }) => body);
  expect(bodies.at(-1)).toContain('"assistantId":"desk"');
  expect(bodies.at(-1)).not.toContain("conversationId");
  expect(await visit.page.getByText("A question to the shop").count()).toBe(0);
  await set("assistant", "shop");
  await visit.page.getByRole("log").getByText("A question to the shop").waitFor();
});

it("names the model, the tools and the connections that the attributes name", async () => {
  await set("tokenless");
  await set("model", "fast");
  await set("tools", " desk__list  desk__assign ");
  await set("connections", "crm");
  await visit.ask("hello");
  const [request] = visit.api.requestsTo(/POST \/v1\/chat/);
  expect(JSON.parse(request?.body ?? "")).toMatchObject({
    model: "fast",
    toolIds: ["desk__list", "desk__assign"],
    connectionIds: ["crm"],
  });
});

it("names nothing without these attributes, or with empty ones", async () => {
  await set("tokenless");
  for (const attribute of ["model", "tools", "connections"]) await set(attribute, " ");
  await visit.ask("hello");
  const [request] = visit.api.requestsTo(/POST \/v1\/chat/);
  expect(Object.keys(JSON.parse(request?.body ?? "") as object)).toEqual(["messages"]);
});
