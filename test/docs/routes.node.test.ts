import { expect, test } from "vitest";
import { API_ROUTES } from "../../src/http/app.ts";
import { agUi } from "../../src/http/clients/ag-ui.ts";
import { routesOfClients } from "../../src/http/clients/client.ts";
import { openAICompletions } from "../../src/http/clients/openai-completions.ts";
import { openAIResponses } from "../../src/http/clients/openai-responses.ts";
import { uiMessage6 } from "../../src/http/clients/ui-chat-6.ts";
import { uiMessage } from "../../src/http/clients/ui-chat.ts";
import { openMetrics } from "../../src/http/metrics/open-metrics.ts";
import type { Route, Routes } from "../../src/http/request/authorise.ts";
import { PROBLEMS } from "../../src/http/request/problem-codes.ts";
import { REPLAY_ROUTES } from "../../src/http/runs/replay.ts";
import { createWorkspaceRoutes } from "../../src/http/workspaces/workspace-changes.ts";
import { rowsOf } from "./table-rows.ts";

const unreached = (): Promise<never> => Promise.reject(new Error("The test sends no request."));

/** Every address that a deployment can have, with all optional parts. */
const ROUTES: Routes = {
  ...API_ROUTES,
  ...routesOfClients([uiMessage, uiMessage6, agUi, openAIResponses, openAICompletions]),
  ...createWorkspaceRoutes(["studio"], { call: unreached, follow: unreached, recheck: unreached }),
  ...(openMetrics.routes as Routes),
  ...REPLAY_ROUTES,
};

/** The page names a parameter by its meaning, a route by the field that holds it. */
const withoutNames = (route: string): string => route.replaceAll(/:\w+(?=\/| )/g, ":");

/** Addresses without a scope: they serve public files, and the health of the Worker. */
const isPublic = (scopes: string): boolean => scopes === "";

test("docs/http.md lists every route with its scope", () => {
  const listed = rowsOf("docs/http.md", "method and path").flatMap((row) => {
    const [route = "", scopes = ""] = row.split(" | ");
    if (isPublic(scopes)) return [];
    const words = route.split(/,? /);
    const methods = words.filter((word) => !word.startsWith("/"));
    const needed = scopes.split(", ");
    return words
      .filter((word) => word.startsWith("/"))
      .flatMap((path) =>
        methods.map((method, at) => `${method} ${path} ${needed[at] ?? needed.at(-1)}`),
      );
  });
  const registered = Object.entries(ROUTES).flatMap(([path, methods]) =>
    Object.entries<Route>(methods).map(([method, { scope }]) => `${method} ${path} ${scope}`),
  );
  expect(listed.map(withoutNames).toSorted()).toEqual(registered.map(withoutNames).toSorted());
});

test("docs/http.md lists every code of a refusal beside its status", () => {
  const listed = rowsOf("docs/http.md", "status [|] codes").flatMap((row) => {
    const [status = "", codes = ""] = row.split(" | ");
    // Parentheses explain a code, and name members of its answer.
    const alone = codes.replaceAll(/\([^)]*\)/g, "");
    return [...alone.matchAll(/`(\w+)`/g)].map(([, code]) => `${status} ${code}`);
  });
  const known = Object.entries(PROBLEMS).map(([code, { status }]) => `${status} ${code}`);
  expect(listed.toSorted()).toEqual(known.toSorted());
});
