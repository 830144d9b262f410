import listStyle from "./chat-list.css";
import { openChatList } from "./chat-list.ts";
import type { ChatTools, ChatToolsPorts } from "./chat-tools.ts";
import { createChatsApi } from "./chats-api.ts";
import { loadTurns } from "./load-turns.ts";
import turnStyle from "./turn-tools.css";
import { TurnTools } from "./turn-tools.ts";

/** The build that these tools belong to. */
export const edition = EDITION;

/** Creates the tools of one chat. */
export function createChatTools(ports: ChatToolsPorts): ChatTools {
  const { filter } = ports;
  const api = createChatsApi(ports.api);
  const drawn = new WeakMap<HTMLElement, TurnTools>();
  ports.addSheets(listStyle, turnStyle);
  return {
    load: (list, kind, signal) => loadTurns(ports, { list, kind, signal }),
    openList: (place) => openChatList({ api, filter, ...place }),
    drawTurn(conversation, exchange, root) {
      const tools = drawn.get(root) ?? new TurnTools({ ...ports, chats: api, conversation, root });
      drawn.set(root, tools);
      tools.update(exchange);
    },
  };
}
