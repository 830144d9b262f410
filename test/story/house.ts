import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { bundleEntry } from "../../scripts/bundle-entry.ts";
import type { Deployment } from "../../scripts/chaos/host/deployment.ts";
import { type Host, hostWorker } from "../../scripts/chaos/host/hosts.ts";
import { readWorkerBindings } from "../../cli/project/worker-bundle.ts";
import { AUDIENCE, ISSUER, type Town } from "./town.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Secrets of the deployment. No output may contain them. */
export const SECRETS = {
  OPENAI_API_KEY: "sk-canary-of-the-provider",
  RUN_ID_SECRET: "canary of the run ids, thirty-two bytes",
};

/** The Worker with the tools of the story, in a process that can be killed, and its state. */
export interface House {
  readonly url: string;
  /** Kills every process, and starts the Worker again on its stored state. */
  readonly host: Host;
  /** A directory for files of the test. */
  readonly scratch: string;
  close(): Promise<void>;
}

/**
 * Builds the pages and the Worker, and starts the Worker in the town. `hosts`: the public hosts
 * beside it.
 */
export async function openHouse(town: Town, hosts: Deployment["hosts"] = {}): Promise<House> {
  const scratch = mkdtempSync(join(tmpdir(), "interlock-story-"));
  const pages = join(scratch, "pages");
  const build = [join(ROOT, "scripts/build-widget.mjs"), pages];
  const [code] = await Promise.all([
    bundleEntry(join(import.meta.dirname, "story-worker.ts"), { minify: false }),
    promisify(execFile)(process.execPath, build),
  ]);
  const deployment = planStory({ code, town, pages, hosts });
  const host = await hostWorker(deployment, join(scratch, "state"), () => Promise.resolve());
  await host.start();
  return {
    url: host.url,
    host,
    scratch,
    async close() {
      await host.stop();
      await host.gone();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

interface StoryParts {
  readonly code: string;
  readonly town: Town;
  readonly pages: string;
  readonly hosts: NonNullable<Deployment["hosts"]>;
}

function planStory({ code, town, pages, hosts }: StoryParts): Deployment {
  const { texts, ...bindings } = readWorkerBindings(ROOT);
  const auth = {
    issuer: ISSUER,
    audience: AUDIENCE,
    algorithms: ["ES256"],
    jwksUrl: `${town.url}/jwks`,
  };
  return {
    ...bindings,
    entry: "",
    code,
    hosts,
    pages,
    texts: {
      ...texts,
      ...SECRETS,
      OPENAI_BASE_URL: `${town.url}/v1`,
      MODELS: "story",
      AUTH: JSON.stringify(auth),
      CONNECTION_KEYS: JSON.stringify([{ id: "story", key: Buffer.alloc(32).toString("base64") }]),
      TOWN: town.url,
    },
  };
}
