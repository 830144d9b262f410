import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { vi } from "vitest";
import { freePort } from "../../cli/development/free-port.ts";
import { blocksIn } from "../docs/code-blocks.ts";

/** The relay of docs/notifications.md, as it stands there. */
export const RELAY = blocksIn("ts").find(({ path }) => path === "slack-relay.ts");

/** The relay in a process of its own, and a Slack that gets its messages. */
export class SlackRelay {
  readonly url: string;
  readonly secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  readonly messages: { readonly text: string }[];
  /** What Slack answers. */
  slackStatus = 200;
  readonly #folder: string;
  readonly #slack: Server;
  readonly #process: ChildProcess;

  private constructor(port: number, slack: Server, messages: SlackRelay["messages"]) {
    this.url = `http://127.0.0.1:${port}/`;
    this.messages = messages;
    this.#slack = slack;
    this.#folder = mkdtempSync(join(tmpdir(), "interlock-relay-"));
    const file = join(this.#folder, "slack-relay.ts");
    writeFileSync(file, RELAY?.text ?? "");
    const SLACK_URL = `http://127.0.0.1:${(slack.address() as AddressInfo).port}/`;
    const env = { ...process.env, WEBHOOK_SECRET: this.secret, SLACK_URL, PORT: `${port}` };
    this.#process = spawn(process.execPath, ["--no-warnings", file], { env, stdio: "inherit" });
  }

  static async start(): Promise<SlackRelay> {
    const messages: { readonly text: string }[] = [];
    const slack = createServer((request, response) => {
      void (async () => {
        const body = await text(request);
        if (relay.slackStatus === 200) messages.push(JSON.parse(body) as { text: string });
        response.writeHead(relay.slackStatus).end();
      })();
    }).listen(0, "127.0.0.1");
    await once(slack, "listening");
    const relay: SlackRelay = new SlackRelay(await freePort(), slack, messages);
    // Node needs a moment to load the file.
    await vi.waitFor(() => fetch(relay.url), { timeout: 60_000 });
    return relay;
  }

  close(): void {
    this.#process.kill();
    this.#slack.close();
    rmSync(this.#folder, { recursive: true });
  }
}
