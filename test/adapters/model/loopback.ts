import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A server on this machine; dispose of it to close it with all its connections. */
export interface Loopback extends AsyncDisposable {
  readonly origin: string;
  /** What was asked, in order. */
  readonly requests: readonly LoopbackRequest[];
  /** Settles when the client has closed a connection whose response was still open. */
  readonly clientLeft: Promise<void>;
}

export interface LoopbackRequest {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** Starts a server that reads each request to its end and then lets `answer` respond. */
export async function startLoopback(
  answer: (response: ServerResponse) => void | Promise<void>,
): Promise<Loopback> {
  const requests: LoopbackRequest[] = [];
  const left = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    let body = "";
    response.on("close", () => {
      if (!response.writableFinished) left.resolve();
    });
    request.setEncoding("utf8");
    request.on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => {
      const { method, url: path, headers } = request;
      requests.push({ method, path, headers, body });
      void answer(response);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    clientLeft: left.promise,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

/** Answers with this body as an event stream. */
export function sendEvents(response: ServerResponse, sse: string): void {
  response.writeHead(200, { "content-type": "text/event-stream" }).end(sse);
}
