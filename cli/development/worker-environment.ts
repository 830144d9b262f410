import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelWireId } from "../../src/protocol/model/declaration.ts";
import type { OfflineModel } from "../offline/offline-model.ts";
import { developmentService, type DevelopmentPeople } from "./people.ts";
import { readDevVars, readTokens, type Provider } from "./settings.ts";

/** What answers as the model: a real provider, or the offline model. */
export type DevelopmentModel =
  | { readonly provider: Provider; readonly offline?: undefined }
  | { readonly provider?: undefined; readonly offline: OfflineModel };

interface Developers {
  readonly people: DevelopmentPeople;
  /** What the server in front shows, so that nobody else acts as a person. */
  readonly secret: string;
}

/**
 * The variables of the Worker. Other users can read them. They can use this server anyway; web
 * pages cannot read them.
 */
export function variablesFor(
  { provider, offline }: DevelopmentModel,
  wire: ModelWireId,
  { people, secret }: Developers,
): NodeJS.Dict<string> {
  return {
    OPENAI_BASE_URL: offline?.url ?? provider?.OPENAI_BASE_URL,
    ANTHROPIC_BASE_URL: offline?.url ?? provider?.ANTHROPIC_BASE_URL,
    MODELS: offline ? `${wire}:offline` : provider?.MODELS,
    DEVELOPER: JSON.stringify({
      people: [...people.values(), developmentService(people)],
      secret,
    }),
    ...readTokens().variables,
  };
}

/** The secrets of the Worker, in a file that only this user can read. */
export interface SecretsFile {
  readonly path: string;
  readonly remove: () => void;
}

/** Writes the Worker's secrets. Those that stored data needs are kept in the state directory. */
export function writeSecrets({ provider }: DevelopmentModel, persistTo: string): SecretsFile {
  const scratch = mkdtempSync(join(tmpdir(), "interlock-"));
  const path = join(scratch, "secrets");
  const secrets = {
    ...readDevVars(),
    OPENAI_API_KEY: provider?.OPENAI_API_KEY ?? "offline",
    ANTHROPIC_API_KEY: provider?.ANTHROPIC_API_KEY ?? "offline",
    RUN_ID_SECRET: keptSecret(join(persistTo, "run-id-secret"), "hex"),
    CONNECTION_KEYS: JSON.stringify([
      { id: "dev", key: keptSecret(join(persistTo, "connection-key"), "base64") },
    ]),
    ...readTokens().secrets,
  };
  writeFileSync(path, toEnvFile(secrets), { mode: 0o600 });
  return { path, remove: () => rmSync(scratch, { recursive: true, force: true }) };
}

/** Keeps a secret, so that run ids and sealed connections survive a restart. */
function keptSecret(file: string, encoding: "hex" | "base64"): string {
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString(encoding), { mode: 0o600 });
  return readFileSync(file, "utf8");
}

function toEnvFile(variables: NodeJS.Dict<string>): string {
  return Object.entries(variables)
    .flatMap(([name, value]) => (value === undefined ? [] : `${name}=${quote(value)}\n`))
    .join("");
}

function quote(value: string): string {
  const mark = ["'", '"', "`"].find((one) => !value.includes(one)) ?? "";
  return `${mark}${value}${mark}`;
}
