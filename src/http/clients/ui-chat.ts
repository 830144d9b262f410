import { uiMessageWire } from "../../wire/ui-message/wire.ts";
import { clientWithRoutes, type Client } from "./client.ts";
import { routesOfUiChat } from "./ui-chat-routes.ts";

/** The UI message stream of the AI SDK, for `useChat` and what is built on it. */
export const uiMessage: Client = clientWithRoutes(
  uiMessageWire,
  routesOfUiChat("/api/chat", uiMessageWire),
);
