import { createServer } from "node:http";

/** A page of another origin with the chat in it, and the server that signs its reader in. */
export interface HostPage {
  readonly origin: string;
  close(): Promise<void>;
}

/** Serves the page of docs/embedding.md; `mint` makes the token that its server hands out. */
export async function serveHostPage(
  interlock: string,
  mint: () => Promise<string>,
): Promise<HostPage> {
  const files: Readonly<Record<string, readonly [string, string]>> = {
    "/": ["text/html", pageOf(interlock)],
    "/chat.js": ["text/javascript", SCRIPT],
  };
  const server = createServer((request, response) => {
    const [type, body] = files[request.url ?? ""] ?? [];
    if (type) {
      const policy = `script-src 'self' ${interlock}; connect-src 'self' ${interlock}`;
      response.writeHead(200, { "content-type": type, "content-security-policy": policy });
      response.end(body);
    } else if (request.url === "/chat-token") {
      void mint().then((token) => response.end(JSON.stringify({ token })));
    } else response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    origin: `http://localhost:${port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function pageOf(interlock: string): string {
  return `<!doctype html>
<meta charset="utf-8" />
<title>Our app</title>
<script type="module" src="${interlock}/widget.js"></script>
<script type="module" src="/chat.js"></script>
<interlock-chat endpoint="${interlock}/"></interlock-chat>`;
}

const SCRIPT = `
document.querySelector("interlock-chat").getToken = async () => {
  const response = await fetch("/chat-token", { method: "POST" });
  return response.ok ? (await response.json()).token : undefined;
};`;
