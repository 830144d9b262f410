import { uiMessage6Wire } from "../../wire/ui-message/wire-6.ts";
import { clientWithRoutes, type Client } from "./client.ts";
import { DATA_STREAM_ROUTES } from "./data-stream.ts";
import { routesOfUiChat } from "./ui-chat-routes.ts";

/** The AI SDK 6, and `useDataStreamRuntime` of assistant-ui, which reads its stream. */
export const uiMessage6: Client = clientWithRoutes(uiMessage6Wire, {
  ...routesOfUiChat("/api/v6/chat", uiMessage6Wire),
  ...DATA_STREAM_ROUTES,
});
