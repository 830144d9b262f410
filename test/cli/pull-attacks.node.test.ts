import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { ProjectFolder } from "../shared/project-folder.ts";

const TOKEN = "ilk_token-of-a-tenant-0123456789";
const HASH = `sha256:${"0".repeat(64)}`;
const EVIL = { scripts: { postinstall: "touch /tmp/owned" } };

interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: unknown;
}

/** A deployment that somebody took over. */
async function evilDeployment(answer: (incoming: IncomingMessage) => Answer) {
  const server = createServer((incoming, response) => {
    const { status = 200, headers = {}, body } = answer(incoming);
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function projectOf(url: string) {
  const project = new ProjectFolder();
  project.write("wrangler.toml", "");
  project.write("package.json", { name: "mine" });
  project.write("tenant/environments.json", { staging: { url } });
  return project;
}

const run = (project: ProjectFolder, ...args: string[]) =>
  project.run([...args, "--env", "staging"], { INTERLOCK_TOKEN: TOKEN });

const missing = { status: 404, body: { code: "policy_missing", title: "x" } };
const listing =
  (...ids: string[]) =>
  (incoming: IncomingMessage): Answer => {
    if (incoming.url === "/v1/policy") return missing;
    if (incoming.url === "/v1/assistants") {
      return { body: { assistants: ids.map((id) => ({ id })) } };
    }
    return { headers: { etag: '"1"' }, body: { hash: HASH, assistant: EVIL } };
  };

describe("a deployment that answers with malice", () => {
  test("pull writes nothing outside of tenant/assistants", async () => {
    await using evil = await evilDeployment(listing("../../package"));
    using project = projectOf(evil.url);
    await run(project, "pull");
    expect(project.read("package.json")).toEqual({ name: "mine" });
  });

  test("pull writes no document of a form that it does not know", async () => {
    await using evil = await evilDeployment(listing("mine"));
    using project = projectOf(evil.url);
    const pulled = await run(project, "pull");
    expect(pulled.all).toContain("tenant/assistants/mine.json");
    expect(project.read("tenant/assistants/mine.json")).toBeUndefined();
  });

  test("pull does not touch environments.json, which says where the token goes", async () => {
    await using evil = await evilDeployment((incoming) => {
      if (incoming.url === "/v1/policy") return missing;
      if (incoming.url === "/v1/assistants") {
        return { body: { assistants: [{ id: "../environments" }] } };
      }
      const assistant = {
        production: { url: "https://evil.example" },
        staging: { url: "https://evil.example" },
      };
      return { headers: { etag: '"1"' }, body: { hash: HASH, assistant } };
    });
    using project = projectOf(evil.url);
    await run(project, "pull");
    expect(project.read("tenant/environments.json")).toEqual({ staging: { url: evil.url } });
  });

  test("a pull from staging does not send the token of production to staging's server", async () => {
    const seen: (string | undefined)[] = [];
    let own = "";
    await using evil = await evilDeployment((incoming) => {
      seen.push(incoming.headers.authorization);
      if (incoming.url === "/v1/policy") return missing;
      if (incoming.url === "/v1/assistants") {
        return { body: { assistants: [{ id: "../environments" }] } };
      }
      const assistant = { production: { url: own }, staging: { url: own } };
      return { headers: { etag: '"1"' }, body: { hash: HASH, assistant } };
    });
    own = evil.url;
    using project = projectOf(evil.url);
    project.write("tenant/policy.json", { allowedTools: [] });
    project.write("tenant/environments.json", {
      staging: { url: evil.url },
      production: { url: "https://production.example.com" },
    });
    await project.run(["pull", "--env", "staging"], { INTERLOCK_TOKEN: TOKEN });
    await project.run(["push", "--env", "production"], {
      INTERLOCK_TOKEN: "ilk_the-token-of-production",
    });
    expect(seen).not.toContain("Bearer ilk_the-token-of-production");
  });

  test.each(["push", "pull"])(
    "%s does not print the token that a refused read repeats",
    async (command) => {
      await using evil = await evilDeployment(({ headers }) => ({
        status: 403,
        body: { code: "forbidden", detail: `no: ${headers.authorization}` },
      }));
      using project = projectOf(evil.url);
      project.write("tenant/policy.json", { allowedTools: [] });
      const ended = await run(project, command);
      expect(ended.all).not.toContain(TOKEN);
    },
  );

  test.each(["push", "pull"])("%s prints no control character of an id", async (command) => {
    await using evil = await evilDeployment(listing("a\u001B]0;owned\u0007\u001B[2Kb"));
    using project = projectOf(evil.url);
    project.write("tenant/assistants/mine.json", {});
    const ended = await run(project, command);
    expect(ended.all).not.toContain("\u001B");
  });

  const writeForEver = (_request: IncomingMessage, response: ServerResponse): void => {
    const block = Buffer.alloc(64 * 1024, 32);
    const go = (): void => {
      while (!response.destroyed && response.write(block)) sent += block.length;
    };
    response.on("drain", go);
    go();
  };
  let sent = 0;

  test.each([
    ["pull", ["pull", "--env", "staging"], "its answer is longer than 8 MiB"],
    ["push", ["push", "--env", "staging"], "its answer is longer than 8 MiB"],
    ["audit", ["audit", "verify", "--url"], "A line is longer than 4 Mi characters"],
  ])("%s stops to read an answer that never ends", async (name, command, reason) => {
    sent = 0;
    const server = createServer(writeForEver).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    using project = projectOf(url);
    project.write("tenant/policy.json", { allowedTools: [] });
    project.write("token", TOKEN);
    const more = name === "audit" ? [url, "--token-file", "token"] : [];
    const ended = await project.run([...command, ...more], { INTERLOCK_TOKEN: TOKEN });
    server.closeAllConnections();
    server.close();
    expect([ended.exitCode, ended.all]).toEqual([1, expect.stringContaining(reason)]);
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  test("a hash that is none does not break the record of pushes", async () => {
    await using evil = await evilDeployment((incoming) => {
      if (incoming.url === "/v1/policy") return missing;
      if (incoming.url === "/v1/assistants") return { body: { assistants: [{ id: "a" }] } };
      return { headers: { etag: '"1"' }, body: { hash: "nonsense", assistant: {} } };
    });
    using project = projectOf(evil.url);
    await run(project, "pull");
    const next = await run(project, "push", "--dry-run");
    expect(next.all).not.toContain("is not a record that interlock push wrote");
  });
});
