import { listDurableObjectIds } from "cloudflare:test";
import { CHAT_FILES } from "../../src/http/pages/chat-files.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { deploy, type Send } from "../shared/identity.ts";
import { script } from "../fakes/scripted-model.ts";
import { TOKENS } from "../shared/tokens.ts";
import { bindings, HOST_PAGE, putPolicy, seedPolicies, send } from "../shared/worker.ts";

beforeAll(seedPolicies);

const JSON_TYPE = { "content-type": "application/json" };
const question = JSON.stringify({
  messages: [{ role: "user", content: script({ text: ["hi"] }) }],
});

function preflight(origin: string, path = "/v1/chat", at: Send = send): Promise<Response> {
  return at(path, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type",
    },
  });
}

function corsHeadersOf(response: Response): readonly string[] {
  return [...response.headers.keys()].filter((name) => name.startsWith("access-control-"));
}

async function expectClosed(response: Response): Promise<void> {
  expect([response.status, await response.json()]).toEqual([
    403,
    expect.objectContaining({ code: "origin_not_allowed" }),
  ]);
  expect(corsHeadersOf(response)).toEqual([]);
}

/** Origins that are not the admitted one, however much they look like it. */
const OTHERS = [
  ["an evil one", "https://evil.example"],
  ["none that is known", "null"],
  ["a subdomain", "https://x.app.hosted.example"],
  ["the parent domain", "https://hosted.example"],
  ["one that begins like it", `${HOST_PAGE}.evil.example`],
  ["one that ends like it", "https://evilapp.hosted.example"],
  ["another port", `${HOST_PAGE}:8443`],
  ["its port spelt out", `${HOST_PAGE}:443`],
  ["another scheme", HOST_PAGE.replace("https", "http")],
  ["another case", HOST_PAGE.toUpperCase()],
  ["a dot at the end", `${HOST_PAGE}.`],
  ["a slash at the end", `${HOST_PAGE}/`],
  ["a path", `${HOST_PAGE}/x`],
  ["a user", HOST_PAGE.replace("//", "//x@")],
  ["a wildcard", "*"],
  ["two of them", `${HOST_PAGE}, ${HOST_PAGE}`],
  ["one that is no origin", "interlock"],
  ["another tenant's entry", `${HOST_PAGE}/hosted`],
] as const;

describe("a preflight", () => {
  test("of an admitted origin learns the methods of the address and the headers it may send", async () => {
    const response = await preflight(HOST_PAGE);
    expect(response.status).toBe(204);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "access-control-allow-origin": HOST_PAGE,
      "access-control-allow-methods": "POST",
      "access-control-allow-headers": expect.stringContaining("authorization"),
      "access-control-max-age": "600",
      vary: "origin",
    });
    expect(response.headers.has("access-control-allow-credentials")).toBe(false);
    const other = await preflight(HOST_PAGE, "/v1/policy");
    expect(other.headers.get("access-control-allow-methods")).toBe("GET, HEAD, PUT");
  });

  test.each(OTHERS)("of %s is refused and learns nothing", async (_name, origin) => {
    await expectClosed(await preflight(origin));
  });

  test("of an address that is none, or of no page, is answered as before", async () => {
    expect((await preflight(HOST_PAGE, "/v1/nowhere")).status).toBe(404);
    expect((await preflight(HOST_PAGE, "/healthz")).status).toBe(405);
    const bare = await send("/v1/chat", { method: "OPTIONS", headers: { origin: HOST_PAGE } });
    expect([bare.status, corsHeadersOf(bare)]).toEqual([405, []]);
  });

  test("follows the policies: a new one admits the origin, the next one removes it", async () => {
    const page = "https://new.bendable.example";
    const fresh = (): Promise<Response> => preflight(page, "/v1/chat", deploy({}));
    expect((await fresh()).status).toBe(403);
    const policy = { allowedTools: [], origins: [page] };
    const first = await putPolicy(policy, { caller: "bendable", "if-none-match": "*" });
    expect(first.status).toBe(200);
    expect((await fresh()).status).toBe(204);
    const etag = first.headers.get("etag") ?? "";
    await putPolicy({ allowedTools: [] }, { caller: "bendable", "if-match": etag });
    expect((await fresh()).status).toBe(403);
    expect((await bindings.POLICY.list({ prefix: `origin/${page}` })).keys).toEqual([]);
  });

  test("an origin that two tenants admit stays when one of them removes it", async () => {
    const page = "https://shared.example";
    const shared = (caller: "strict" | "lab"): Promise<Response> =>
      replacePolicy(caller, { allowedTools: [], origins: [page] });
    await shared("strict");
    await shared("lab");
    await replacePolicy("strict", { allowedTools: [] });
    const { keys } = await bindings.POLICY.list({ prefix: `origin/${page}/` });
    expect(keys.map(({ name }) => name)).toEqual([`origin/${page}/lab`]);
    expect((await preflight(page, "/v1/chat", deploy({}))).status).toBe(204);
  });
});

test.each([
  ...OTHERS.slice(7).map(([, origin]) => origin),
  "https://*.hosted.example",
  "file://",
  "",
])("a policy takes no origin like %j", async (origin) => {
  const etag = (await send("/v1/policy", { caller: "hosted" })).headers.get("etag") ?? "";
  const policy = { allowedTools: [], origins: [origin] };
  const refused = await putPolicy(policy, { caller: "hosted", "if-match": etag });
  expect([refused.status, await refused.json()]).toEqual([
    422,
    expect.objectContaining({ code: "invalid_request" }),
  ]);
});

async function replacePolicy(caller: "strict" | "lab", policy: object): Promise<Response> {
  const current = await send("/v1/policy", { caller });
  return putPolicy(policy, { caller, "if-match": current.headers.get("etag") ?? "" });
}

describe("a request of a page", () => {
  test("of an admitted origin may be read by it, stream and all", async () => {
    const response = await send("/v1/chat", {
      caller: "hosted",
      method: "POST",
      headers: { ...JSON_TYPE, origin: HOST_PAGE },
      body: question,
    });
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "access-control-allow-origin": HOST_PAGE,
      "access-control-expose-headers": expect.stringContaining("x-run-id"),
      vary: expect.stringContaining("origin"),
    });
    expect(response.headers.has("access-control-allow-credentials")).toBe(false);
    expect(await response.text()).toContain("data: [DONE]\n");
  });

  test("may also read why it was refused", async () => {
    const response = await send("/v1/chat", {
      caller: "hosted",
      method: "POST",
      headers: { ...JSON_TYPE, origin: HOST_PAGE },
      body: "{}",
    });
    expect(response.status).toBe(422);
    expect(response.headers.get("access-control-allow-origin")).toBe(HOST_PAGE);
  });

  test.each(OTHERS)(
    "of %s is refused though its token is good, and wakes nothing",
    async (_name, origin) => {
      const before = await listDurableObjectIds(bindings.RUNS);
      await expectClosed(
        await send("/v1/chat", {
          caller: "hosted",
          method: "POST",
          headers: { ...JSON_TYPE, origin },
          body: question,
        }),
      );
      expect(await listDurableObjectIds(bindings.RUNS)).toHaveLength(before.length);
    },
  );

  test("of an origin that another tenant admits is refused", async () => {
    await expectClosed(await send("/v1/tools", { caller: "acme", headers: { origin: HOST_PAGE } }));
  });

  test("is refused where the tenant has no readable policy", async () => {
    for (const caller of ["bare", "garbled", "misshapen"] as const) {
      await expectClosed(await send("/v1/tools", { caller, headers: { origin: HOST_PAGE } }));
    }
  });

  test("of our own origin needs no permission and gets no headers", async () => {
    const headers = { origin: "https://interlock.test" };
    const response = await send("/v1/tools", { caller: "acme", headers });
    expect([response.status, corsHeadersOf(response)]).toEqual([200, []]);
  });

  test("learns that its token is refused only if some tenant admits the origin", async () => {
    const ask = (origin: string): Promise<Response> =>
      send("/v1/tools", { headers: { origin, authorization: "Bearer expired" } });
    const known = await ask(HOST_PAGE);
    expect([known.status, known.headers.get("access-control-allow-origin")]).toEqual([
      401,
      HOST_PAGE,
    ]);
    const unknown = await ask("https://evil.example");
    expect([unknown.status, corsHeadersOf(unknown)]).toEqual([401, []]);
  });
});

describe("a form of another page, which needs no preflight,", () => {
  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/plain; application/json",
    "application/json-patch+json",
    "",
  ])("starts nothing with content type %j", async (type) => {
    const response = await send("/v1/chat", {
      caller: "acme",
      method: "POST",
      headers: { "content-type": type },
      body: question,
    });
    expect([response.status, await response.json()]).toEqual([
      415,
      expect.objectContaining({ code: "unsupported_media_type" }),
    ]);
  });

  test("brings no token along: there is no cookie, and one that is sent is not looked at", async () => {
    const response = await send("/v1/chat", {
      method: "POST",
      headers: {
        ...JSON_TYPE,
        cookie: `token=${TOKENS.acme.token}; authorization=${TOKENS.acme.token}`,
      },
      body: question,
    });
    expect(response.status).toBe(401);
    expect(response.headers.has("set-cookie")).toBe(false);
  });

  test("is not let in by a token in the address", async () => {
    const { token } = TOKENS.acme;
    const response = await send(`/v1/tools?access_token=${token}&token=${token}`);
    expect(response.status).toBe(401);
  });
});

describe("the files of the element", () => {
  test("may be loaded by pages of other origins, and nothing else may", async () => {
    const policyOf = async (path: string): Promise<string | null> =>
      (await send(path, { caller: "acme" })).headers.get("cross-origin-resource-policy");
    for (const file of CHAT_FILES) expect(await policyOf(file), file).toBe("cross-origin");
    expect(await policyOf("/")).toBe("same-origin");
    expect(await policyOf("/v1/tools")).toBe("same-origin");
  });

  test("may be loaded as a module by the pages of admitted origins", async () => {
    const load = (origin: string): Promise<Response> => send("/widget.js", { headers: { origin } });
    expect((await load(HOST_PAGE)).headers.get("access-control-allow-origin")).toBe(HOST_PAGE);
    const refused = await load("https://evil.example");
    expect([corsHeadersOf(refused), refused.headers.get("vary")]).toEqual([[], "origin"]);
  });
});
