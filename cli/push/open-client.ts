import { ACTING_HEADER } from "../../src/protocol/identity/development.ts";
import { readNumber, UsageError } from "../command.ts";
import { DEFAULT_PORT } from "../development/default-port.ts";
import { type ClientTarget, createClient, type Send } from "./deployment-client.ts";
import { readTarget } from "./target.ts";

/** The options with which a command names the deployment that it talks to. */
export const DEPLOYMENT_OPTIONS = {
  env: { type: "string" },
  port: { type: "string" },
  as: { type: "string" },
} as const;

/** Their values. */
export interface DeploymentValues {
  readonly env?: string | undefined;
  readonly port?: string | undefined;
  readonly as?: string | undefined;
}

/** What the usage of such a command says about them. */
export const DEPLOYMENT_USAGE =
  "--env: a deployment of tenant/environments.json; the variable INTERLOCK_TOKEN holds the token.\n" +
  `Without it: interlock dev, at --port (${DEFAULT_PORT}), as the person --as.\n`;

/** Checks the options, before anything is read. Fails: throws a UsageError. */
export function checkDeployment({ env, port, as }: DeploymentValues): void {
  if (env !== undefined && (port ?? as) !== undefined) {
    throw new UsageError("--port and --as are for interlock dev. Leave them out with --env.");
  }
  if (port !== undefined) readNumber("port", port, 65_535);
}

/** Makes the client of the deployment that the options name. Fails: as `readTarget`. */
export function openClient(project: string, values: DeploymentValues): Send {
  return createClient(targetOf(project, values));
}

/** Where the options lead, and as whom. Fails: as `readTarget`. */
export function targetOf(
  project: string,
  { env, port = String(DEFAULT_PORT), as }: DeploymentValues,
): ClientTarget {
  if (env !== undefined) return readTarget(project, env);
  const own = as === undefined ? {} : { [ACTING_HEADER]: as };
  const url = `http://127.0.0.1:${readNumber("port", port, 65_535)}`;
  return { environment: "development", url, own };
}
