import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleEntry } from "../../scripts/bundle-entry.ts";
import { hostWorker } from "../../scripts/chaos/host/hosts.ts";
import { PACKAGE_FOLDER } from "../../cli/project/folders.ts";
import { readWorkerBindings } from "../../cli/project/worker-bundle.ts";
import { connectionKeysSecret } from "./tokens.ts";

/** The reference deployment, started on this machine as one Worker over HTTP. */
export interface StartedDeployment extends AsyncDisposable {
  readonly url: string;
}

/** A caller of the started deployment, by the token. */
export interface Caller {
  readonly tenantId: string;
  readonly actorId: string;
  readonly scopes: readonly string[];
}

/**
 * Starts the reference deployment. It admits these callers by their tokens, and nobody else unless
 * the variables say so.
 */
export async function startDeployment(
  callers: Readonly<Record<string, Caller>>,
  variables: Readonly<Record<string, string>> = {},
): Promise<StartedDeployment> {
  const state = mkdtempSync(join(tmpdir(), "interlock-deployment-"));
  const { compatibilityDate, texts, kv, objects, assets } = readWorkerBindings(PACKAGE_FOLDER);
  const entry = join(PACKAGE_FOLDER, "src/index.ts");
  const tokens = Object.entries(callers).map(([token, caller]) =>
    Object.assign({ sha256: createHash("sha256").update(token).digest("hex") }, caller),
  );
  const secrets = {
    API_TOKENS: JSON.stringify(tokens),
    CONNECTION_KEYS: connectionKeysSecret(),
    RUN_ID_SECRET: "a secret for tests, 32 bytes long",
  };
  const code = await bundleEntry(entry, { minify: false });
  const worker = { entry, code, compatibilityDate, kv, objects, assets };
  const deployment = { ...worker, texts: { ...texts, ...secrets, ...variables } };
  const host = await hostWorker(deployment, state, () => Promise.resolve());
  await host.start();
  return {
    url: host.url,
    async [Symbol.asyncDispose]() {
      await host.stop();
      rmSync(state, { recursive: true, force: true });
    },
  };
}
