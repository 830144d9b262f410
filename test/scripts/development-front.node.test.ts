import { once } from "node:events";
import {
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
} from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startFront } from "../../scripts/development-front.ts";
import { freePort } from "../../scripts/free-port.ts";

const received: IncomingHttpHeaders[] = [];
const servers: Server[] = [];
let port: number;

beforeAll(async () => {
  const [outer, innerPort] = [await freePort(), await freePort()];
  port = outer;
  const inner = createServer((incoming, answer) => {
    received.push(incoming.headers);
    incoming.pipe(answer);
  });
  inner.listen(innerPort, "127.0.0.1");
  await once(inner, "listening");
  servers.push(inner, await startFront({ port, innerPort, secret: "the secret" }));
});
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

async function post(headers: Record<string, string>): Promise<readonly [number, string]> {
  const sent = request({ host: "127.0.0.1", port, method: "POST", headers, agent: false });
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

// Mutant: any host passes.
test.each(["evil.test", "evil.test:8787", "127.0.0.1.evil.test", "localhost@evil.test"])(
  "a request to the host %j is refused",
  async (host) => {
    const before = received.length;
    expect((await post({ host }))[0]).toBe(403);
    expect(received).toHaveLength(before);
  },
);

// Mutant: a client chooses another host by a header of the platform's server.
test("headers that the platform's server believes are removed", async () => {
  const forged = { "MF-Original-URL": "http://localhost/", "mf-cf-blob": "{}" };
  await post({ host: "localhost", ...forged, "x-other": "stays" });
  expect(Object.keys(received.at(-1) ?? {}).filter((name) => name.startsWith("mf-"))).toEqual([]);
  expect(received.at(-1)).toMatchObject({ "x-other": "stays" });
});
