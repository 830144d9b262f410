import { createApprovalsApi, createReaderCall } from "../../approval/api.ts";
import cardStyle from "../../approval/card.css";
import { ApprovalCard } from "../../approval/card.ts";
import formStyle from "../../approval/form.css";
import packetStyle from "../../approval/packet-view.css";
import { readAgainSoon } from "../../approval/tracker.ts";
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
  const approvals = createApprovalsApi(createReaderCall(ports.api));
  const createCard: ChatTools["createCard"] = (card, approval) =>
    new ApprovalCard({ ...card, api: approvals }, approval);
  ports.addSheets(cardStyle, packetStyle, formStyle, listStyle, turnStyle);
  ports.undo.elsewhere.addEventListener("changed", readAgainSoon);
  return {
    load: (list, kind, signal) => loadTurns(ports, { list, kind, signal }),
    openList: (place) => openChatList({ api, filter, ...place }),
    createCard,
    drawTurn(conversation, exchange, root) {
      const own = { chats: api, approvals, createCard, conversation, root };
      const tools = drawn.get(root) ?? new TurnTools({ ...ports, ...own });
      drawn.set(root, tools);
      tools.update(exchange);
    },
  };
}
