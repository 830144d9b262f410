import type { ChatTools, ChatToolsPorts } from "./chat-tools.ts";
import { loadTurns } from "./load-turns.ts";

/** The build that these tools belong to. */
export const edition = EDITION;

/** Creates the tools of one chat. */
export function createChatTools(ports: ChatToolsPorts): ChatTools {
  return {
    load: (list, kind, signal) => loadTurns(ports, { list, kind, signal }),
  };
}
