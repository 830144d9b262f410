import { API_ROUTES } from "../../src/http/app.ts";
import { agUi } from "../../src/http/clients/ag-ui.ts";
import { routesOfClients, type Client } from "../../src/http/clients/client.ts";
import { openAICompletions } from "../../src/http/clients/openai-completions.ts";
import { openAIResponses } from "../../src/http/clients/openai-responses.ts";
import { uiMessage6 } from "../../src/http/clients/ui-chat-6.ts";
import { uiMessage } from "../../src/http/clients/ui-chat.ts";
import { openMetrics } from "../../src/http/metrics/open-metrics.ts";
import type { Method, Route, Routes } from "../../src/http/request/authorise.ts";
import { DRY_RUN_ROUTES } from "../../src/http/tenant/policy-dry-run.ts";
import { REPLAY_ROUTES } from "../../src/http/runs/replay.ts";
import { createWorkspaceRoutes } from "../../src/http/workspaces/workspace-changes.ts";

const unreached = (): Promise<never> => Promise.reject(new Error("The build sends no request."));

/** Routes, and what a deployment names to have them; undefined for what each deployment has. */
type Part = readonly [option: string | undefined, routes: Routes];

const wire = (name: string, client: Client): Part => [
  `\`${name}\` among its \`wires\``,
  routesOfClients([client]),
];

const PARTS: readonly Part[] = [
  [undefined, API_ROUTES],
  wire("uiMessage", uiMessage),
  wire("uiMessage6", uiMessage6),
  wire("agUi", agUi),
  wire("openAIResponses", openAIResponses),
  wire("openAICompletions", openAICompletions),
  [
    "`workspaces`",
    createWorkspaceRoutes(["studio"], { call: unreached, follow: unreached, recheck: unreached }),
  ],
  ["`metrics`", openMetrics.routes as Routes],
  ["`replay`", REPLAY_ROUTES],
  ["`replay`", DRY_RUN_ROUTES],
];

/** One method of one address. */
export interface ListedRoute {
  readonly path: string;
  readonly method: Method;
  readonly route: Route;
  /** What a deployment names to have the route; each entry is enough. Empty: every one has it. */
  readonly options: readonly string[];
}

/** Lists every route that a deployment can have, with all optional parts. */
export function listRoutes(): readonly ListedRoute[] {
  const listed = new Map<string, ListedRoute>();
  for (const [option, routes] of PARTS) {
    for (const [path, methods] of Object.entries(routes)) {
      for (const [method, route] of Object.entries<Route>(methods)) {
        const key = `${method} ${path}`;
        const options = [...(listed.get(key)?.options ?? []), ...(option ? [option] : [])];
        listed.set(key, { path, method: method as Method, route, options });
      }
    }
  }
  return [...listed.values()];
}
