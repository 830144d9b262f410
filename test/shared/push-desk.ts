import { once } from "node:events";
import { createServer, request as sendRequest, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach } from "vitest";
import type { CommandResult } from "./command-process.ts";
import { ProjectFolder } from "./project-folder.ts";
import { startDeployment, type StartedDeployment } from "./started-deployment.ts";

const SCOPES = [
  "policy:read",
  "policy:write",
  "assistants:read",
  "assistants:write",
  "connections:write",
  "providers:read",
  "providers:write",
];
const MAX_TENANTS = 32;
const CALLERS = Object.fromEntries(
  Array.from({ length: MAX_TENANTS }, (_, index) => [
    `ilk_token-of-tenant-${index}`,
    { tenantId: `tenant-${index}`, actorId: "service:ci", scopes: SCOPES },
  ]),
);
/** Tools of the reference deployment. */
export const TIME = "core__get_current_time";
export const SUM = "core__calculate";

/** What a front does with a request: passes it on, cuts it, redirects it or refuses it. */
type Verdict = "pass" | "cut" | URL | object;

interface AskInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The reference deployment of one test file, and a tenant of its own for each test. */
export interface PushDesk {
  readonly url: string;
  /** Of the tenant of this test. */
  readonly token: string;
  /** A project that pushes to the deployment, or to what stands in front of it. */
  projectOf(files: Readonly<Record<string, object>>, url?: string): ProjectFolder;
  /** Runs `interlock` for the environment of the project. */
  run(
    project: ProjectFolder,
    args: readonly string[],
    variables?: NodeJS.ProcessEnv,
  ): Promise<CommandResult>;
  /** Asks the deployment directly, as somebody without the project does. */
  ask(
    path: string,
    init?: RequestInit,
  ): Promise<{ readonly status: number; readonly body: object }>;
  put(path: string, document: object, precondition: Record<string, string>): Promise<object>;
  /** Starts a server in front of the deployment. `before` runs before a request is passed on. */
  startFront(
    before: (incoming: IncomingMessage) => Promise<Verdict>,
  ): Promise<AsyncDisposable & { readonly url: string }>;
}

/** Starts the deployment before the tests of a file, and stops it after them. */
export function openPushDesk(): PushDesk {
  let deployment: StartedDeployment;
  let tenants = 0;
  let token = "";
  beforeAll(async () => {
    deployment = await startDeployment(CALLERS);
  });
  afterAll(async () => {
    await deployment[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    token = `ilk_token-of-tenant-${tenants++}`;
  });
  const desk: PushDesk = {
    get url() {
      return deployment.url;
    },
    get token() {
      return token;
    },
    projectOf(files, url = deployment.url) {
      const project = new ProjectFolder();
      project.write("wrangler.toml", "");
      project.write("tenant/environments.json", { staging: { url } });
      for (const [name, document] of Object.entries(files)) {
        project.write(`tenant/${name}.json`, document);
      }
      return project;
    },
    run: (project, args, variables = {}) =>
      project.run([...args, "--env", "staging"], { INTERLOCK_TOKEN: token, ...variables }),
    async ask(path, init: AskInit = {}) {
      const headers = { authorization: `Bearer ${token}`, ...init.headers };
      const response = await fetch(`${deployment.url}/v1/${path}`, { ...init, headers });
      const text = await response.text();
      return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as object) };
    },
    put(path, document, precondition) {
      const headers = { "content-type": "application/json", ...precondition };
      return desk.ask(path, { method: "PUT", headers, body: JSON.stringify(document) });
    },
    startFront: (before) => startFront(deployment.url, before),
  };
  return desk;
}

/** What a push printed with `--json`: the action of each document, and its outcome. */
export function actionsOf({ stdout }: CommandResult): Record<string, string | undefined> {
  const { documents } = JSON.parse(stdout) as {
    documents: { key: string; action: string; outcome?: string }[];
  };
  return Object.fromEntries(
    documents.map(({ key, action, outcome }) => [key, outcome ? `${action}: ${outcome}` : action]),
  );
}

async function startFront(
  deploymentUrl: string,
  before: (incoming: IncomingMessage) => Promise<Verdict>,
): Promise<AsyncDisposable & { readonly url: string }> {
  const server: Server = createServer((incoming, answer) => {
    void before(incoming).then((verdict) => {
      if (verdict === "cut") return incoming.socket.destroy();
      if (verdict instanceof URL) return answer.writeHead(307, { location: verdict.href }).end();
      if (verdict !== "pass") return answer.writeHead(422).end(JSON.stringify(verdict));
      const { method, headers, url = "" } = incoming;
      const passed = sendRequest(`${deploymentUrl}${url}`, { method, headers }, (received) => {
        answer.writeHead(received.statusCode ?? 500, received.headers);
        received.pipe(answer);
      });
      return incoming.pipe(passed);
    });
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
