import { once } from "node:events";
import {
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
} from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startFront } from "../../cli/development/front.ts";
import type { ActorId, TenantId } from "../../src/protocol/identity/ids.ts";
import { freePort } from "../../cli/development/free-port.ts";

const person = (name: string) => ({
  tenantId: "t" as TenantId,
  actorId: `user:${name}` as ActorId,
  roles: [],
  scopes: [],
});
const people = new Map([
  ["ann", person("ann")],
  ["bob", person("bob")],
]);
const received: IncomingHttpHeaders[] = [];
/** Why the deployment cannot be built. */
let refusal: string | undefined;
const servers: Server[] = [];
let port: number;

beforeAll(async () => {
  const [outer, innerPort] = [await freePort(), await freePort()];
  port = outer;
  const inner = createServer((incoming, answer) => {
    received.push(incoming.headers);
    if (incoming.url === "/never") return;
    if (incoming.method === "GET") {
      // In two writes, so that no length is known when the headers are sent.
      answer.write("<body>");
      answer.end("page</body>");
    } else incoming.pipe(answer);
  });
  inner.listen(innerPort, "127.0.0.1");
  await once(inner, "listening");
  servers.push(
    inner,
    await startFront({
      port,
      innerPort,
      secret: "the secret",
      people,
      receiver: { receive: () => false },
      refusal: () => refusal,
    }),
  );
});
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

async function post(
  headers: Record<string, string>,
  path = "/",
): Promise<readonly [number, string]> {
  const sent = request({ host: "127.0.0.1", port, method: "POST", path, headers, agent: false });
  sent.end("hello");
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return [answer.statusCode ?? 0, (await answer.setEncoding("utf8").toArray()).join("")];
}

test.each(["127.0.0.1", "localhost:8787", "[::1]:8787"])(
  "a request to %s passes with the secret, and its body and answer unchanged",
  async (host) => {
    expect(await post({ host, "x-interlock-developer": "forged" })).toEqual([200, "hello"]);
    expect(received.at(-1)).toMatchObject({ host, "x-interlock-developer": "the secret" });
  },
);

test.each(["evil.test", "evil.test:8787", "127.0.0.1.evil.test", "localhost@evil.test"])(
  "a request to the host %j is refused",
  async (host) => {
    const before = received.length;
    expect((await post({ host }))[0]).toBe(403);
    expect(received).toHaveLength(before);
  },
);

describe("data of the platform is refused", () => {
  const PATH = "/cdn-cgi/local/explorer/api/storage/kv/namespaces";
  const UPGRADE = { connection: "upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
  const own = { host: "localhost", origin: "http://localhost" };

  test.each([
    ["to a page on another local port", { origin: "http://localhost:9999" }],
    ["to a page that names no origin", { origin: "null" }],
    ["to a page of another local port, by its site", { "sec-fetch-site": "same-site" }],
    ["to an image of another site", { "sec-fetch-site": "cross-site" }],
    ["where origin and site contradict", { ...own, "sec-fetch-site": "same-site" }],
    ["to a simple POST without Origin", { "content-type": "text/plain" }],
    ["to a rebound name", { host: "evil.test", origin: "http://evil.test" }],
    ["to a websocket of another local port", { ...UPGRADE, origin: "http://localhost:9999" }],
    ["to a websocket without Origin", UPGRADE],
  ])("%s", async (_, headers: Record<string, string>) => {
    const before = received.length;
    expect((await post({ host: "localhost", ...headers }, PATH))[0]).toBe(403);
    expect(received).toHaveLength(before);
  });

  test.each([
    "/x/../cdn-cgi/a",
    "/%2e/cdn-cgi/a",
    "\\cdn-cgi/../../cdn-cgi/a",
    "//cdn-cgi/a/..//cdn-cgi/a",
    "/CDN-CGI/a",
    "http://localhost/cdn-cgi/a",
    "//[",
    "/cdn-cgi",
  ])("however the address is spelt: %s", async (path) => {
    const before = received.length;
    const status = await rawStatus(`POST ${path} HTTP/1.1`, "origin: http://localhost:9999");
    expect(status).toBeGreaterThanOrEqual(400);
    expect(received).toHaveLength(before);
  });

  test.each([
    ["its own page", own],
    ["its own page, by its site", { "sec-fetch-site": "same-origin" }],
    ["an address that a person typed", { "sec-fetch-site": "none" }],
  ])("but not to %s", async (_, headers: Record<string, string>) => {
    expect(await post({ host: "localhost", ...headers }, PATH)).toEqual([200, "hello"]);
  });
});

/** Sends a request line that no client of a library sends, and reads the status. */
async function rawStatus(...lines: readonly string[]): Promise<number> {
  const socket = connect(port, "127.0.0.1");
  const end = ["host: localhost", "connection: close", "content-length: 0", "", ""];
  socket.write([...lines, ...end].join("\r\n"));
  const answer = await text(socket);
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
}

test("headers that the platform's server believes are removed", async () => {
  const forged = { "MF-Original-URL": "http://localhost/", "mf-cf-blob": "{}" };
  await post({ host: "localhost", ...forged, "x-other": "stays" });
  expect(Object.keys(received.at(-1) ?? {}).filter((name) => name.startsWith("mf-"))).toEqual([]);
  expect(received.at(-1)).toMatchObject({ "x-other": "stays" });
});

const HOST = { host: "localhost" };

test.each([
  ["nobody: the first person acts", {}, "user:ann"],
  ["a person by header", { "x-interlock-as": "bob" }, "user:bob"],
  ["a person by cookie", { cookie: "a=b; interlock-acting=bob" }, "user:bob"],
  [
    "both: the header counts",
    { "x-interlock-as": "ann", cookie: "interlock-acting=bob" },
    "user:ann",
  ],
  ["a cookie of an older file", { cookie: "interlock-acting=zoe" }, "user:ann"],
])("a request that names %s", async (_, headers, actor) => {
  await post({ ...HOST, ...headers });
  expect(received.at(-1)).toMatchObject({ "x-interlock-as": actor });
});

test("a person that the file does not name is refused, and the answer names the others", async () => {
  const before = received.length;
  const refused = await post({ ...HOST, "x-interlock-as": "user:bob" });
  expect(refused).toEqual([400, 'There is no person "user:bob"; there are ann, bob.\n']);
  expect(received).toHaveLength(before);
});

describe("the switcher", () => {
  const home = (path: string, init?: RequestInit): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, init);
  const actAs = (name: string, headers: Record<string, string> = {}): Promise<Response> =>
    home("/__development/acting", { method: "POST", body: name, headers });

  test("is on the pages, and only there", async () => {
    for (const path of ["/", "/approvals", "/approvals?x", "/gameplan", "/runs"]) {
      expect(await (await home(path)).text()).toContain("/__development/switcher.js");
    }
    expect(await (await home("/v1/runs")).text()).toBe("<body>page</body>");
  });

  test("sets a cookie for a person of the file", async () => {
    const chosen = await actAs("bob");
    const cookie = "interlock-acting=bob; Path=/; SameSite=Strict; HttpOnly";
    expect([chosen.status, chosen.headers.get("set-cookie")]).toEqual([204, cookie]);
    expect((await actAs("zoe")).status).toBe(400);
    const shown = await home("/__development/people", {
      headers: { cookie: "interlock-acting=bob" },
    });
    expect(await shown.json()).toEqual({ people: ["ann", "bob"], acting: "bob" });
  });

  test("obeys no page of another origin", async () => {
    const forged = await actAs("bob", { origin: "http://evil.test" });
    expect([forged.status, forged.headers.get("set-cookie")]).toEqual([403, null]);
  });
});

test("while the deployment cannot be built, every request is answered with the compiler's words", async () => {
  const before = received.length;
  refusal = 'src/tools/a.ts:3:7: Unexpected ";"';
  try {
    expect(await post(HOST)).toEqual([503, `${refusal}\n`]);
    const page = await fetch(`http://127.0.0.1:${port}/`);
    expect([page.status, await page.text()]).toEqual([503, `${refusal}\n`]);
  } finally {
    refusal = undefined;
  }
  expect(received).toHaveLength(before);
  expect((await post(HOST))[0]).toBe(200);
});

test("a request that waits while a build is refused is answered with the compiler's words", async () => {
  const before = received.length;
  const waiting = post(HOST, "/never");
  await expect.poll(() => received.length).toBe(before + 1);
  refusal = "src/tools/a.ts:3:7: Unexpected";
  try {
    expect(await waiting).toEqual([503, `${refusal}\n`]);
  } finally {
    refusal = undefined;
  }
});
