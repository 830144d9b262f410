import { once } from "node:events";
import {
  createServer,
  request,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { DEVELOPER_HEADER } from "../src/protocol/identity/api-token.ts";

const HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;

interface FrontSettings {
  readonly port: number;
  /** Port of the platform's local server. */
  readonly innerPort: number;
  /** Secret that tells the Worker that a request came through here. */
  readonly secret: string;
}

/**
 * Starts the server of `npm run dev` in front of the platform's local server.
 * Threat: a page that rebinds its name to loopback. The request must name a loopback host, and the
 * headers with which the platform's server lets a client choose another host are removed. Only
 * requests that pass get the secret, so the platform's own port admits nobody as the developer.
 * Fails: rejects when the port is taken.
 */
export async function startFront(settings: FrontSettings): Promise<Server> {
  const server = createServer((incoming, answer) => {
    if (HOST.test(incoming.headers.host ?? "")) forward(incoming, answer, settings);
    else answer.writeHead(403).end("The development server answers to loopback hosts only.\n");
  });
  server.listen(settings.port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

function forward(
  incoming: IncomingMessage,
  answer: ServerResponse,
  { innerPort, secret }: FrontSettings,
): void {
  const { method, url: path, headers } = incoming;
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith("mf-"));
  const outgoing = request({
    host: "127.0.0.1",
    port: innerPort,
    agent: false,
    method,
    path,
    headers: { ...Object.fromEntries(kept), [DEVELOPER_HEADER]: secret },
  });
  outgoing.once("response", (inner) => {
    answer.writeHead(inner.statusCode ?? 502, inner.headers).flushHeaders();
    inner.once("error", () => answer.destroy());
    inner.pipe(answer);
  });
  // A client sees the same as without this server: a connection that fails or breaks.
  outgoing.once("error", () => answer.destroy());
  answer.once("close", () => outgoing.destroy());
  incoming.pipe(outgoing);
}
