import { waitUntil } from "cloudflare:workers";
import type { DeploymentChoices } from "../../src/compose/deployment.ts";
import { composeWorker } from "../../src/compose/worker.ts";
import type { RawEnv } from "../../src/env.ts";
import { hostWorkspaces } from "../../src/host-workspaces.ts";
import { gameplanWorkspace } from "../../apps/gameplan/workspace.ts";
import { TOOLS } from "../../src/tools/index.ts";
import { deploymentOf } from "./deployment.ts";
import { bindings } from "./worker.ts";

const WORKSPACES = hostWorkspaces([gameplanWorkspace]);

export const ISSUER = "https://issuer.test/";
export const AUDIENCE = "interlock-test";

/** Sends a request to a Worker as a client does. */
export type Send = (path: string, init?: RequestInit) => Promise<Response>;

/** Composes the product with the bindings of the test deployment, some of them changed. */
export function deploy(changes: RawEnv, choices: Partial<DeploymentChoices> = {}): Send {
  const env = { ...(bindings as unknown as RawEnv), ...changes };
  const deployment = deploymentOf(TOOLS, { workspaces: WORKSPACES, ...choices });
  const handle = composeWorker(env, deployment, waitUntil);
  return (path, init) => handle(new Request(`https://interlock.test${path}`, init));
}

/** Formats the variable AUTH of a deployment. */
export function authOf(settings: object): string {
  return JSON.stringify({ issuer: ISSUER, audience: AUDIENCE, ...settings });
}

/** Claims of an accepted token, with the changes of a test. */
export function claimsOf(changes: Record<string, unknown> = {}): Record<string, unknown> {
  const now = Math.floor(Date.now() / 1_000);
  const times = { iat: now, exp: now + 300 };
  const who = {
    tenant: "acme",
    sub: "ann",
    roles: ["approver"],
    scope: "chat runs:read tools:read",
  };
  return { iss: ISSUER, aud: AUDIENCE, ...times, ...who, ...changes };
}

export function bearer(token: string, headers: Record<string, string> = {}): RequestInit {
  return { headers: { ...headers, authorization: `Bearer ${token}` } };
}

/** Writes a compact JWS from parts that a library refuses to combine. */
export function compact(header: object, payload: object, signature = ""): string {
  return `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(payload))}.${signature}`;
}

export function base64url(text: string): string {
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
