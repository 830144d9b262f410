import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ACTING_HEADER, DEVELOPER_HEADER } from "../../src/protocol/identity/development.ts";
import { MODEL_WIRE_IDS, type ModelWireId } from "../../src/protocol/model/declaration.ts";
import type { Page } from "../../src/http/pages/pages.ts";
import { buildDeployment } from "../project/build-deployment.ts";
import { CommandError, type Command, messageOf, parsing, UsageError } from "../command.ts";
import { startFront } from "../development/front.ts";
import {
  actAs,
  developmentService,
  PEOPLE_FILE,
  readPeople,
  type DevelopmentPeople,
} from "../development/people.ts";
import { readRefusal, refusalFile } from "../development/refusal.ts";
import { followTenant, readTenantVersion } from "../development/follow-tenant.ts";
import { storeTenant } from "../development/store-tenant.ts";
import { type Provider, readDevVars, readProvider, readTokens } from "../development/settings.ts";
import { tellBuilds } from "../development/tell-builds.ts";
import { keepWorker } from "../development/worker.ts";
import { freePort } from "../development/free-port.ts";
import { loadScenarios } from "../offline/offline-scenarios.ts";
import { startOfflineModel } from "../offline/offline-model.ts";
import { readLocalDocuments } from "../push/local-documents.ts";
import { openDevelopmentRecord } from "../push/pushed-record.ts";
import { outputFolder, projectFolder } from "../project/folders.ts";
import { loadDeployment } from "../project/load-deployment.ts";

const USAGE =
  "Usage: interlock dev [--port N] [--persist-to DIR] [--people FILE] [--as NAME] " +
  `[--wire ${MODEL_WIRE_IDS.join("|")}] [--offline FILE] [--replace]\n` +
  "Runs the deployment on this machine, with an offline model unless a provider is configured.\n" +
  "--people: the people who need no token. --as: who acts first. --wire: of the offline model.\n" +
  "--offline: a module with more answers of the offline model; see docs/testing.md.\n" +
  "--replace: stores the files of tenant also where somebody changed a document over HTTP.";
const STARTING = "Interlock starts. Try again in a moment.";
const RESTARTING = "The Worker's runtime ended. Interlock starts it again; try again in a moment.";

export const command: Command = {
  usage: USAGE,
  run: runHere,
};

/** Runs a model (offline unless one is configured), the Worker and the server in front of it. */
async function runHere(args: string[]): Promise<void> {
  const { port, persistTo, peopleFile, actor, wire, offlineFile, replaces } = readArguments(args);
  const project = projectFolder();
  const people = choosePeople(peopleFile, actor);
  // A file that is wrong in itself is told before anything starts.
  readLocalDocuments(project);
  mkdirSync(persistTo, { recursive: true });
  const record = openDevelopmentRecord(persistTo);
  const provider = readProvider();
  const secret = randomBytes(32).toString("hex");
  const innerPort = await freePort();
  const output = outputFolder(project);
  // Until the tenant's documents are stored, a request would see no tool.
  let waiting: string | undefined = STARTING;
  const refusal = (): string | undefined => readRefusal(output) ?? waiting;
  await startFront({ port, innerPort, secret, people, refusal }).catch((error: unknown) => {
    throw new CommandError(describeListen(port, error));
  });
  rmSync(refusalFile(output), { force: true });
  const refused = await buildDeployment(project);
  if (refused !== undefined) {
    console.error(`${refused}\nInterlock did not start.`);
    process.exit(1);
  }
  const offline = provider
    ? undefined
    : await startOfflineModel(await loadScenarios(project, offlineFile));
  const scratch = mkdtempSync(join(tmpdir(), "interlock-"));
  const secretsFile = join(scratch, "secrets");
  const tokens = readTokens();
  const service = developmentService(people);
  const secrets = {
    ...readDevVars(),
    OPENAI_API_KEY: offline ? "offline" : provider?.OPENAI_API_KEY,
    ANTHROPIC_API_KEY: offline ? "offline" : provider?.ANTHROPIC_API_KEY,
    RUN_ID_SECRET: keptSecret(join(persistTo, "run-id-secret"), "hex"),
    CONNECTION_KEYS: JSON.stringify([
      { id: "dev", key: keptSecret(join(persistTo, "connection-key"), "base64") },
    ]),
    ...tokens.secrets,
  };
  writeFileSync(secretsFile, toEnvFile(secrets), { mode: 0o600 });
  const variables = {
    OPENAI_BASE_URL: offline?.url ?? provider?.OPENAI_BASE_URL,
    ANTHROPIC_BASE_URL: offline?.url ?? provider?.ANTHROPIC_BASE_URL,
    MODELS: offline ? `${wire}:offline` : provider?.MODELS,
    // Other users can read it. They can use this server anyway; web pages cannot read it.
    DEVELOPER: JSON.stringify({ people: [...people.values(), service], secret }),
    ...tokens.variables,
  };

  const inner = `http://127.0.0.1:${innerPort}`;
  const workerSettings = { project, port: innerPort, persistTo, secretsFile, variables };
  const tellEnded = (): void => {
    const wasReady = waiting === undefined;
    waiting ??= RESTARTING;
    console.error("  The Worker's runtime ended. Interlock starts it again.");
    if (wasReady) void tellBack();
  };
  const worker = keepWorker(workerSettings, { tellEnded, answers: () => isHealthy(inner) });
  const tellBack = async (): Promise<void> => {
    const unready = await firstAnswer(inner, { output, isStopping: () => isStopping });
    waiting = undefined;
    worker.noteAnswer();
    if (unready !== undefined) return;
    console.log(`  Interlock is ready again: http://127.0.0.1:${port}/\n`);
  };
  let isStopping = false;
  const stop = async (code: number): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    await worker.stop();
    await offline?.stop();
    rmSync(scratch, { recursive: true, force: true });
    process.exit(code);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => void stop(0));
  }
  void worker.exited.then((code) => {
    if (!isStopping) console.error("The server of the Worker ended, so Interlock ends.");
    return stop(code);
  });
  // The parent may be killed without a signal to this process. Nothing may outlive the parent.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && void stop(0), 500).unref();
  const own = { [DEVELOPER_HEADER]: secret, [ACTING_HEADER]: service.actorId };
  const tenant = { url: inner, own, project, record };
  const unready = await firstAnswer(inner, { output, isStopping: () => isStopping });
  const stored = readTenantVersion(project);
  const documents =
    unready === undefined
      ? await storeTenant(tenant, { replaces })
      : { warned: [], kept: [], refused: [unready] };
  if (documents.refused.length === 0) {
    const { pages = [] } = await loadDeployment(project);
    worker.noteAnswer();
    waiting = undefined;
    announce(port, { provider: offline ? undefined : provider, pages });
    tellTenant([...documents.warned, ...documents.kept]);
    followTenant(tenant, { stored, tell: tellTenant });
    tellBuilds(output, {
      answers: () => isHealthy(inner),
      tellRefused: (why) =>
        console.error(`${why}\nInterlock answers with this until it is mended.\n`),
      tellMended: () => console.log(`  Interlock is ready again: http://127.0.0.1:${port}/\n`),
    });
  } else {
    console.error(`${documents.refused.join("\n").trimEnd()}\nInterlock did not start.`);
    await stop(1);
  }
}

function readArguments(args: string[]): {
  readonly port: number;
  readonly persistTo: string;
  readonly peopleFile: string;
  readonly actor: string | undefined;
  readonly wire: ModelWireId;
  readonly offlineFile: string | undefined;
  readonly replaces: boolean;
} {
  const text = { type: "string" } as const;
  const options = {
    port: text,
    "persist-to": text,
    people: text,
    as: text,
    wire: text,
    offline: text,
    replace: { type: "boolean", default: false },
  } as const;
  const { values } = parsing(() => parseArgs({ args, options }));
  const port = Number(values.port ?? 8787);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new UsageError(`--port takes a number from 1 to 65535, not ${values.port}`);
  }
  const wire = MODEL_WIRE_IDS.find((id) => id === (values.wire ?? "openai"));
  if (!wire) {
    throw new UsageError(`--wire takes ${MODEL_WIRE_IDS.join(", ")}, not ${values.wire}`);
  }
  const persistTo = resolve(values["persist-to"] ?? ".wrangler/state");
  const { people: peopleFile = PEOPLE_FILE, as: actor, offline: offlineFile, replace } = values;
  return { port, persistTo, peopleFile, actor, wire, offlineFile, replaces: replace };
}

function choosePeople(file: string, actor: string | undefined): DevelopmentPeople {
  return parsing(() => {
    const all = readPeople(file);
    return actor === undefined ? all : actAs(all, actor);
  });
}

/**
 * Keeps a secret in the state directory, so that run ids and sealed connections survive a restart.
 */
function keptSecret(file: string, encoding: "hex" | "base64"): string {
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString(encoding), { mode: 0o600 });
  return readFileSync(file, "utf8");
}

function toEnvFile(variables: Record<string, string | undefined>): string {
  return Object.entries(variables)
    .flatMap(([name, value]) => (value === undefined ? [] : `${name}=${quote(value)}\n`))
    .join("");
}

function quote(value: string): string {
  const mark = ["'", '"', "`"].find((one) => !value.includes(one)) ?? "";
  return `${mark}${value}${mark}`;
}

interface Waiting {
  readonly output: string;
  readonly isStopping: () => boolean;
}

/** Waits for the Worker. Returns the reason when the Worker refuses to work, else undefined. */
async function firstAnswer(
  url: string,
  { output, isStopping }: Waiting,
): Promise<string | undefined> {
  while (!isStopping()) {
    const refused = readRefusal(output);
    if (refused !== undefined) return refused;
    // While it builds, the platform's server lets a request wait.
    const signal = AbortSignal.timeout(2_000);
    const answer = await fetch(`${url}/healthz`, { signal }).catch(() => undefined);
    if (answer) return answer.ok ? undefined : detailOf(await answer.text());
    await new Promise((wait) => setTimeout(wait, 100));
  }
  return "The Worker ended before it answered.";
}

async function isHealthy(url: string): Promise<boolean> {
  const signal = AbortSignal.timeout(2_000);
  const answer = await fetch(`${url}/healthz`, { signal }).catch(() => undefined);
  return answer?.ok ?? false;
}

/** The words of a problem document; else the whole text. */
function detailOf(text: string): string {
  const [, detail] = /"detail":("(?:[^"\\]|\\.)*")/.exec(text) ?? [];
  return detail === undefined ? text : (JSON.parse(detail) as string);
}

function describeListen(port: number, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== "EADDRINUSE") return `Port ${port} cannot be used: ${messageOf(error)}`;
  return `Port ${port} is in use. Choose another one: npm run dev -- --port ${port + 1}`;
}

/** Tells what became of files of the tenant. */
function tellTenant(lines: readonly string[]): void {
  for (const line of lines) console.log(`  ${line}`);
}

interface Started {
  readonly provider: Provider | undefined;
  readonly pages: readonly Page[];
}

function announce(port: number, { provider, pages }: Started): void {
  const model = provider
    ? `models ${provider.MODELS ?? "of wrangler.toml"}`
    : "offline model, no key needed";
  const url = `http://127.0.0.1:${port}/`;
  const hasGame = pages.some(({ paths }) => paths.includes("/gameplan"));
  const game = hasGame ? `\n  GamePlan: ${url}gameplan` : "";
  console.log(`${game}\n  Interlock is ready: ${url}  (${model})\n  Ctrl-C stops it.\n`);
}
