import { waitUntil } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { composeWorker } from "../../src/compose/worker.ts";
import type { RawEnv } from "../../src/env.ts";
import { script } from "../fakes/scripted-model.ts";
import { ELSEWHERE, SHOP, type Visit } from "../fakes/shop.ts";
import {
  bindings,
  type Caller,
  chat,
  chunksOf,
  postChat,
  putConnection,
  runIdOf,
  seedPolicies,
  send,
} from "../shared/worker.ts";
import { deploymentOf } from "../shared/deployment.ts";
import { readTicket } from "../workers/lab-upstreams.ts";

beforeAll(seedPolicies);
beforeEach(visits);

/** What the shop received since the last time. */
async function visits(): Promise<readonly Visit[]> {
  return (await fetch(`${SHOP}/visits`)).json();
}

/** Lets a model read a ticket. */
function read(args: object, caller: Caller = "lab"): Promise<Response> {
  const call = { id: "call_1", name: "lab__read_ticket", args: JSON.stringify(args) };
  return chat([{ calls: [call] }, { text: ["ok"] }], caller);
}

async function resultOf(args: object): Promise<unknown> {
  const chunks = await chunksOf(await read(args));
  return chunks.find(({ type }) => type === "result")?.["result"];
}

test("a tool reaches its upstream below the address that the deployment binds", async () => {
  expect(await resultOf({ ticket: "7", view: "all" })).toMatchObject({
    result_payload: { data: { status: 200, text: "A page." } },
  });
  const [visit, ...more] = await visits();
  expect([visit, more]).toEqual([
    { host: "shop.test", method: "GET", path: "/api/tickets/7?view=all", key: null },
    [],
  ]);
});

test("a model that chooses the name of a ticket does not leave the base path", async () => {
  const names = ["..", "../../admin", "..%2f..%2fadmin", "..\\admin", "//evil.test/", "a\nb", ""];
  for (const ticket of names) {
    expect(await resultOf({ ticket })).toMatchObject({
      status: { taxonomy_class: "POLICY_VIOLATION" },
      result_payload: { errors: [{ code: "http_refused" }] },
    });
  }
  expect(await visits()).toEqual([]);
});

test("a model that writes a user, a query or a parameter writes a name or a value", async () => {
  await resultOf({ ticket: "@evil.test", view: "short&admin=true" });
  await resultOf({ ticket: "7?admin=true#end" });
  expect((await visits()).map(({ host, path }) => [host, path])).toEqual([
    ["shop.test", "/api/tickets/%40evil.test?view=short%26admin%3Dtrue"],
    ["shop.test", "/api/tickets/7%3Fadmin%3Dtrue%23end?view=short"],
  ]);
});

test("the credentials of a call reach its upstream, and no address that a model writes", async () => {
  await putConnection("service", { kind: "bearer", token: "shop-secret" }, "lab");
  const show = async (args: object): Promise<unknown> => {
    const call = { id: "call_1", name: "lab__show_account", args: JSON.stringify(args) };
    const content = script({ calls: [call] }, { text: ["ok"] });
    const body = { messages: [{ role: "user", content }], connectionIds: ["service"] };
    const chunks = await chunksOf(await postChat(body, "lab"));
    return chunks.find(({ type }) => type === "result")?.["result"];
  };
  expect(await show({})).toMatchObject({ result_payload: { data: { status: 200 } } });
  for (const url of [`${ELSEWHERE}/`, `${SHOP}/api/me`, "https://shop.test@evil.test/"]) {
    expect(await show({ url })).toMatchObject({
      result_payload: { errors: [{ code: "http_refused" }] },
    });
  }
  expect(
    (await visits()).map(({ host, path, authorization }) => [host, path, authorization]),
  ).toEqual([["shop.test", "/api/me", "Bearer shop-secret"]]);
});

test("contract, run, events and audit show the name of an upstream, never its address", async () => {
  const response = await read({ ticket: "7" }, "archive");
  const stream = await response.text();
  const runId = runIdOf(response);
  const paths = [
    "/v1/tools/lab__read_ticket",
    `/v1/runs/${runId}`,
    `/v1/runs/${runId}/events`,
    "/v1/audit",
  ];
  const answers = await Promise.all(paths.map((path) => send(path, { caller: "archive" })));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const [contract = "", ...records] = await Promise.all(answers.map((answer) => answer.text()));
  expect(JSON.parse(contract)).toMatchObject({ interlock: { upstreams: ["shop"] } });
  expect([stream, contract, ...records].join("\n")).not.toContain("shop.test");
});

describe("the address of an upstream", () => {
  const sound = bindings as unknown as RawEnv;

  /** Says why a Worker whose tool needs the upstream does not start. */
  async function refusalOf(
    changes: RawEnv,
    upstreams: Record<string, string> = { shop: "SHOP_URL" },
  ) {
    const deployment = deploymentOf([readTicket], { upstreams });
    const handle = composeWorker({ ...sound, ...changes }, deployment, waitUntil);
    const response = await handle(new Request("https://interlock.test/healthz"));
    if (response.ok) return "";
    const { code, detail } = await response.json<{ code: string; detail: string }>();
    expect([response.status, code]).toEqual([503, "not_configured"]);
    return detail;
  }

  test.each(["https://desk.example.com", "https://desk.example.com:8443/api/v2/"])(
    "may be %s",
    async (address) => {
      expect(await refusalOf({ SHOP_URL: address })).toBe("");
    },
  );

  test.each([undefined, ""])("%j is missing, by the name of its setting", async (address) => {
    expect(await refusalOf({ SHOP_URL: address })).toContain("SHOP_URL is missing");
  });

  test.each([
    "shop",
    "http://desk.example.com",
    "https://user:pass@desk.example.com",
    "https://desk.example.com/?tenant=a",
    "https://desk.example.com/#a",
    "https://desk.internal",
    "https://10.0.0.8",
    "https://169.254.169.254",
    "https://[fd00::1]",
    "https://0x7f000001",
    "http://127.0.0.1:8787",
    "https://localhost",
    "ftp://desk.example.com",
  ])("may not be %s, and is not repeated", async (address) => {
    const refusal = await refusalOf({ SHOP_URL: address });
    expect(refusal).toContain("SHOP_URL is not valid");
    expect(refusal).not.toContain(address);
  });

  test("may be of this machine in development, and of no other private place", async () => {
    const person = { tenantId: "dev", actorId: "user:dev", scopes: [], roles: [] };
    const DEVELOPER = JSON.stringify({ people: [person], secret: "s".repeat(32) });
    const open = { ...sound, DEVELOPER };
    for (const address of ["http://127.0.0.1:8787/desk", "http://localhost:1", "http://[::1]:1"]) {
      expect(await refusalOf({ ...open, SHOP_URL: address })).toBe("");
    }
    for (const address of ["http://10.0.0.8", "http://desk.example.com"]) {
      expect(await refusalOf({ ...open, SHOP_URL: address })).toContain("SHOP_URL is not valid");
    }
  });

  test("is needed for every upstream that a contract names", async () => {
    const refusal = await refusalOf({}, { desk: "SHOP_URL" });
    expect(refusal).toContain("The upstream shop is not bound to a setting");
  });
});
