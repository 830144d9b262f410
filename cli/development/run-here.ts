import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import type { DeploymentOptions } from "../../src/define-deployment.ts";
import { ACTING_HEADER, DEVELOPER_HEADER } from "../../src/protocol/identity/development.ts";
import type { ModelWireId } from "../../src/protocol/model/declaration.ts";
import { CommandError } from "../command.ts";
import { startOfflineModel } from "../offline/offline-model.ts";
import { loadScenarios } from "../offline/offline-scenarios.ts";
import { buildDeployment } from "../project/build-deployment.ts";
import { outputFolder } from "../project/folders.ts";
import { readLocalDocuments } from "../push/local-documents.ts";
import { openDevelopmentRecord } from "../push/pushed-record.ts";
import { announce, announceAgain, describeListen, tellTenant } from "./announce.ts";
import { followTenant, readTenantVersion } from "./follow-tenant.ts";
import { freePort } from "./free-port.ts";
import { startFront } from "./front.ts";
import { createNotificationReceiver, type NotificationReceiver } from "./notification-receiver.ts";
import { developmentService, type DevelopmentPeople } from "./people.ts";
import { Readiness } from "./readiness.ts";
import { refusalFile } from "./refusal.ts";
import { readProvider } from "./settings.ts";
import { type DevelopmentTenant, storeTenant } from "./store-tenant.ts";
import { tellBuilds } from "./tell-builds.ts";
import { type KeptWorker, keepWorker, type WorkerSettings } from "./worker.ts";
import {
  type DevelopmentModel,
  type SecretsFile,
  variablesFor,
  writeSecrets,
} from "./worker-environment.ts";

/** How a deployment runs on this machine. */
export interface DevelopmentOptions {
  readonly project: string;
  readonly port: number;
  /** Where the platform's local server keeps what the Worker stores. */
  readonly persistTo: string;
  readonly people: DevelopmentPeople;
  /** The wire of the offline model. */
  readonly wire: ModelWireId;
  /** A module with more answers of the offline model. */
  readonly offlineFile: string | undefined;
  /** Whether files of the tenant win over what somebody changed over HTTP. */
  readonly replaces: boolean;
}

interface Running extends DevelopmentOptions {
  readonly model: DevelopmentModel;
  readonly secrets: SecretsFile;
  readonly worker: KeptWorker;
  readonly readiness: Readiness;
  readonly receiver: NotificationReceiver;
  readonly pages: NonNullable<DeploymentOptions["pages"]>;
}

/**
 * Runs a model (offline unless one is configured), the Worker and the server in front of it. They
 * end with this process.
 */
export async function runHere(options: DevelopmentOptions): Promise<void> {
  const { project, port, persistTo, people } = options;
  // A file that is wrong in itself is told before anything starts.
  readLocalDocuments(project);
  const provider = readProvider();
  const scenarios = provider ? [] : await loadScenarios(project, options.offlineFile);
  mkdirSync(persistTo, { recursive: true });
  const record = openDevelopmentRecord(persistTo);
  const secret = randomBytes(32).toString("hex");
  const innerPort = await freePort();
  const url = `http://127.0.0.1:${innerPort}`;
  const readiness = new Readiness(url, outputFolder(project));
  const refusal = (): string | undefined => readiness.refusal();
  const receiver = createNotificationReceiver(port, (line) => tellTenant([line]));
  await startFront({ port, innerPort, secret, people, receiver, refusal }).catch(
    (error: unknown) => {
      throw new CommandError(describeListen(port, error));
    },
  );
  const { pages = [] } = await buildOrExit(project);
  const model = provider ? { provider } : { offline: await startOfflineModel(scenarios) };
  const secrets = writeSecrets(model, persistTo);
  const variables = variablesFor(model, options.wire, { people, secret });
  const settings = { project, port: innerPort, persistTo, secretsFile: secrets.path, variables };
  const worker = startWorker(settings, readiness, port);
  const running = { ...options, model, secrets, worker, readiness, receiver, pages };
  const stop = endTogether(running);
  const own = { [DEVELOPER_HEADER]: secret, [ACTING_HEADER]: developmentService(people).actorId };
  const refused = await openTo(running, { url, own, project, record });
  if (refused.length === 0) return;
  console.error(`${refused.join("\n").trimEnd()}\nInterlock did not start.`);
  await stop(1);
}

async function buildOrExit(project: string): Promise<DeploymentOptions> {
  rmSync(refusalFile(outputFolder(project)), { force: true });
  const built = await buildDeployment(project);
  if (built.ok) return built.value;
  console.error(`${built.failure}\nInterlock did not start.`);
  process.exit(1);
}

/** Keeps the Worker running. Tells when its runtime ended, and when it works again. */
function startWorker(settings: WorkerSettings, readiness: Readiness, port: number): KeptWorker {
  const tellBack = async (): Promise<void> => {
    const unready = await readiness.firstAnswer();
    readiness.noteReady();
    worker.noteAnswer();
    if (unready === undefined) announceAgain(port);
  };
  const worker = keepWorker(settings, {
    tellEnded() {
      const wasReady = readiness.noteEnded();
      console.error("  The Worker's runtime ended. Interlock starts it again.");
      if (wasReady) void tellBack();
    },
    answers: () => readiness.isHealthy(),
  });
  return worker;
}

/** Ends everything at a signal, with the Worker's server and with the parent; returns how. */
function endTogether(running: Running): (code: number) => Promise<void> {
  const { model, secrets, worker, readiness } = running;
  const stop = async (code: number): Promise<void> => {
    if (readiness.isStopping) return;
    readiness.noteStopping();
    await worker.stop();
    await model.offline?.stop();
    secrets.remove();
    process.exit(code);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => void stop(0));
  }
  void worker.exited.then((code) => {
    if (!readiness.isStopping) {
      console.error("The server of the Worker ended, so Interlock ends.");
    }
    return stop(code);
  });
  // The parent may be killed without a signal to this process. Nothing may outlive the parent.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && void stop(0), 500).unref();
  return stop;
}

/**
 * Stores the tenant's documents and lets requests through; from then on it follows the files and
 * the builds. Returns why it did not.
 */
async function openTo(running: Running, tenant: DevelopmentTenant): Promise<readonly string[]> {
  const { project, port, replaces, model, worker, readiness, receiver, pages } = running;
  const unready = await readiness.firstAnswer();
  if (unready !== undefined) return [unready];
  await receiver.connect(tenant);
  const stored = readTenantVersion(project);
  const { refused, warned, kept } = await storeTenant(tenant, { replaces });
  if (refused.length > 0) return refused;
  worker.noteAnswer();
  readiness.noteReady();
  announce(port, { provider: model.provider, pages });
  tellTenant([...warned, ...kept]);
  followTenant(tenant, { stored, tell: tellTenant });
  tellBuilds(outputFolder(project), {
    answers: () => readiness.isHealthy(),
    tellRefused: (why) =>
      console.error(`${why}\nInterlock answers with this until it is mended.\n`),
    tellMended: () => announceAgain(port),
  });
  return [];
}
