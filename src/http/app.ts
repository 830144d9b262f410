import { Hono, type Handler } from "hono";
import { getApprovals } from "./approvals-queue.ts";
import { getApproval, postDecision, postDecisions } from "./approvals.ts";
import { getAudit } from "./audit.ts";
import { postChat } from "./chat.ts";
import { answerPreflight, showToListed } from "./cors.ts";
import { deleteConnection, putConnection } from "./connections.ts";
import { postEmbedToken } from "./embed-tokens.ts";
import { getPolicy, putPolicy } from "./policy.ts";
import { problem } from "./problem.ts";
import { forScope, notForPages } from "./routes.ts";
import { getRuns } from "./run-list.ts";
import { getEvents, getRun, postCancel, postMessage, postOutcome } from "./runs.ts";
import type { Services } from "./services.ts";
import { getTool, getTools } from "./tools.ts";

/** Assembles the HTTP surface: every address, the methods it takes, and who may call it. */
export function createApp(services: Services): Hono {
  const app = new Hono();
  app.on("OPTIONS", "/v1/*", async (context, next) => {
    await next();
    context.res = await answerPreflight(context.req.raw, context.res, services);
  });
  route(app, "/v1/chat", { POST: forScope(services, "chat", postChat) });
  route(app, "/v1/runs", { GET: forScope(services, "runs:read", notForPages(getRuns)) });
  route(app, "/v1/approvals", {
    GET: forScope(services, "approvals:read", notForPages(getApprovals)),
  });
  route(app, "/v1/audit", { GET: forScope(services, "audit:read", getAudit) });
  route(app, "/v1/runs/:id", { GET: forScope(services, "runs:read", getRun) });
  route(app, "/v1/runs/:id/events", { GET: forScope(services, "runs:read", getEvents) });
  route(app, "/v1/runs/:id/cancel", { POST: forScope(services, "chat", postCancel) });
  route(app, "/v1/runs/:id/messages", { POST: forScope(services, "chat", postMessage) });
  route(app, "/v1/runs/:id/invocations/:invocationId/outcome", {
    POST: forScope(services, "runs:operate", postOutcome),
  });
  route(app, "/v1/approvals/decisions", {
    POST: forScope(services, "approvals:decide", postDecisions),
  });
  route(app, "/v1/approvals/:id", { GET: forScope(services, "approvals:read", getApproval) });
  route(app, "/v1/approvals/:id/decisions", {
    POST: forScope(services, "approvals:decide", postDecision),
  });
  route(app, "/v1/tools", { GET: forScope(services, "tools:read", getTools) });
  route(app, "/v1/connections/:id", {
    PUT: forScope(services, "connections:write", putConnection),
    DELETE: forScope(services, "connections:write", deleteConnection),
  });
  route(app, "/v1/policy", {
    GET: forScope(services, "policy:read", getPolicy),
    PUT: forScope(services, "policy:write", putPolicy),
  });
  route(app, "/v1/embed-tokens", {
    POST: forScope(services, "embed:mint", notForPages(postEmbedToken)),
  });
  route(app, "/v1/tools/:id", { GET: forScope(services, "tools:read", getTool) });
  route(app, "/healthz", { GET: () => Response.json({ status: "ok" }) });
  for (const path of PAGE_PATHS) {
    route(app, path, { GET: (context) => servePage(context.req.raw, services) });
  }
  app.notFound(() => problem("unknown_route"));
  app.onError(() => problem("internal_error"));
  return app;
}

/** Files of the pages; they are public shells, everything they show comes from the API. */
const PAGE_PATHS = ["/", "/approvals", "/widget.js", "/approvals.js", "/page.css"] as const;

type Method = "GET" | "POST" | "PUT" | "DELETE";

/** Pages of other origins load the element as a module, which browsers fetch like the API. */
async function servePage(request: Request, services: Services): Promise<Response> {
  return showToListed(await services.page(request), request, services);
}

function route(app: Hono, path: string, handlers: Partial<Record<Method, Handler>>): void {
  for (const [method, handler] of Object.entries(handlers)) app.on(method, path, handler);
  const allow = Object.keys(handlers)
    .flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))
    .join(", ");
  app.all(path, () => problem("method_not_allowed", { headers: { allow } }));
}
