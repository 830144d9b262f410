import type { Handler } from "hono";
import { HonoBase } from "hono/hono-base";
import { TrieRouter } from "hono/router/trie-router";
import {
  unreadableStorageOf,
  type UnreadableStorage,
} from "../protocol/outcome/unreadable-storage.ts";
import { APPROVAL_QUEUE_ROUTES } from "./approvals/approvals-queue.ts";
import { APPROVAL_ROUTES } from "./approvals/approvals.ts";
import { CONSENT_ROUTES } from "./approvals/consents.ts";
import { ASSISTANT_ROUTES } from "./tenant/assistants.ts";
import { AUDIT_ROUTES } from "./audit/audit.ts";
import { refuseTools, ToolsUnavailable } from "./request/contracts.ts";
import { authorise, type Method, type Route, type Routes } from "./request/authorise.ts";
import { CHAT_ROUTES } from "./runs/chat.ts";
import { CONNECTION_ROUTES } from "./tenant/connections.ts";
import { CONVERSATION_LIST_ROUTES } from "./conversations/conversation-list.ts";
import { CONVERSATION_ROUTES } from "./conversations/conversations.ts";
import { answerPreflight, exposeToListed } from "./request/cors.ts";
import { ESCALATION_ROUTES } from "./escalations/escalations.ts";
import { FEEDBACK_ROUTES } from "./conversations/feedback.ts";
import { EMBED_TOKEN_ROUTES } from "./embed/embed-tokens.ts";
import { INVOKE_ROUTES } from "./runs/invoke.ts";
import { NOTIFICATION_ROUTES } from "./notifications/notifications.ts";
import { OUTCOME_ROUTES } from "./runs/outcomes.ts";
import { PAGE_TEXT_ROUTES } from "./pages/page-texts.ts";
import { PEOPLE_ROUTES } from "./people/people.ts";
import { POLICY_ROUTES } from "./tenant/policy.ts";
import { isProblem, problem } from "./request/problem.ts";
import { PROVIDER_ROUTES } from "./tenant/providers.ts";
import { RESULT_ROUTES } from "./runs/results.ts";
import { RUN_LIST_ROUTES } from "./runs/run-list.ts";
import { RUN_ROUTES } from "./runs/runs.ts";
import type { Services } from "./services.ts";
import { TRACE_ROUTES } from "./runs/trace.ts";
import { UNDO_ROUTES } from "./runs/undo.ts";
import { TOOL_IMAGE_ROUTES } from "./runs/tool-images.ts";
import { TOOL_ROUTES } from "./tenant/tools.ts";

/** Every route that each deployment has; docs/http.md has them in one table. */
export const API_ROUTES: Routes = {
  ...CHAT_ROUTES,
  ...INVOKE_ROUTES,
  ...UNDO_ROUTES,
  ...CONVERSATION_LIST_ROUTES,
  ...CONVERSATION_ROUTES,
  ...FEEDBACK_ROUTES,
  ...RUN_LIST_ROUTES,
  ...RUN_ROUTES,
  ...TRACE_ROUTES,
  ...TOOL_IMAGE_ROUTES,
  ...RESULT_ROUTES,
  ...APPROVAL_QUEUE_ROUTES,
  ...OUTCOME_ROUTES,
  ...ESCALATION_ROUTES,
  ...NOTIFICATION_ROUTES,
  ...APPROVAL_ROUTES,
  ...CONSENT_ROUTES,
  ...TOOL_ROUTES,
  ...POLICY_ROUTES,
  ...ASSISTANT_ROUTES,
  ...PAGE_TEXT_ROUTES,
  ...CONNECTION_ROUTES,
  ...PROVIDER_ROUTES,
  ...EMBED_TOKEN_ROUTES,
  ...AUDIT_ROUTES,
  ...PEOPLE_ROUTES,
};

/**
 * Assembles the HTTP surface: every address and its methods. `more`: routes of parts that not every
 * deployment has.
 */
export function createApp(services: Services, more: Routes = {}): HonoBase {
  // The usual router makes one regular expression of all routes, which a cold start waits for.
  const app = new HonoBase({ router: new TrieRouter() });
  app.on("OPTIONS", ["/v1/*", ...Object.keys(more)], async (context, next) => {
    await next();
    context.res = await answerPreflight(context.req.raw, context.res, services);
  });
  for (const [path, methods] of Object.entries({ ...API_ROUTES, ...more })) {
    const handlers = Object.entries<Route>(methods).map(
      ([method, route]) => [method as Method, authorise(services, route)] as const,
    );
    const { formatRefusal } =
      Object.values<Route>(methods).find((route) => route.formatRefusal) ?? {};
    if (formatRefusal) {
      app.use(path, async (context, next) => {
        await next();
        if (isProblem(context.res)) context.res = await formatRefusal(context.res);
      });
    }
    addAddress(app, path, handlers);
  }
  addAddress(app, "/healthz", [["GET", () => Response.json({ status: "ok" })]]);
  for (const path of new Set(services.pages.flatMap(({ paths }) => paths))) {
    addAddress(app, path, [["GET", (context) => servePage(context.req.raw, services)]]);
  }
  app.notFound(() => problem("unknown_route"));
  app.onError((error) => {
    if (error instanceof ToolsUnavailable) return refuseTools();
    const unreadable = unreadableStorageOf(error);
    if (unreadable) return refuseStorage(unreadable);
    return problem("internal_error", { errorId: services.log.fault("request_failed", error) });
  });
  return app;
}

function refuseStorage(code: UnreadableStorage): Response {
  // A deploy of newer code ends soon. Nothing tells when older code returns.
  if (code === "storage_too_old") return problem(code, { detail: "Nothing was changed." });
  const detail = "Nothing was changed. Send the request again once the newer version is deployed.";
  return problem(code, { detail, headers: { "retry-after": "30" } });
}

/**
 * The files are public; all data that a page shows comes from the API. Pages of other origins load
 * the widget as a module, which browsers fetch with CORS.
 */
async function servePage(request: Request, services: Services): Promise<Response> {
  return exposeToListed(await services.readAsset(request), request, services);
}

function addAddress(
  app: HonoBase,
  path: string,
  handlers: readonly (readonly [Method, Handler])[],
): void {
  for (const [method, handler] of handlers) app.on(method, path, handler);
  const allow = handlers
    .flatMap(([method]) => (method === "GET" ? ["GET", "HEAD"] : [method]))
    .join(", ");
  app.all(path, () => problem("method_not_allowed", { headers: { allow } }));
}
