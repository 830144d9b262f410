import { say } from "../texts/say.ts";
import type { ApprovalInfo } from "../approval/info.ts";
import type { Conversation } from "./conversation.ts";
import { createButton, el } from "../dom.ts";
import { type Exchange, isActive } from "./exchange/exchange.ts";
import { createExchangeView, type ExchangeView } from "./exchange/exchange-view.ts";
import type { ChatTools } from "./conversations/chat-tools.ts";
import type { CallReader } from "./tool-card/call-reader.ts";
import { keepAtEnd } from "./scroll-keeper.ts";
import { createTurnWindow, standIn, type Turn } from "./turn-window.ts";

interface LogPorts {
  /** Shown while the conversation is new. */
  readonly empty: HTMLElement;
  readonly reader: CallReader;
}

type TurnView = ExchangeView & Turn;

/** Creates the scrolling list of a conversation's exchanges. */
export function createLog(conversation: Conversation, ports: LogPorts) {
  const { empty, reader } = ports;
  const opening = el("p", { class: "note" }, say("Opening the chat…"));
  const earlier = createButton("earlier", say("Show earlier messages"));
  const list = el("div", { class: "exchanges" }, empty, opening, earlier);
  const root = el(
    "div",
    { class: "log", part: "log", role: "log", "aria-label": say("Conversation") },
    list,
  );
  // The status line announces answers. A live log would read out every delta.
  root.setAttribute("aria-live", "off");
  root.tabIndex = 0;
  const turnWindow = createTurnWindow(root);
  const keeper = keepAtEnd(root, list, turnWindow.update);
  const views = new Map<number, TurnView>();
  let tools: ChatTools | undefined;
  let isLoading = false;
  earlier.addEventListener("click", () => {
    void conversation.loader.load("earlier");
    root.focus({ preventScroll: true });
  });

  function removeClosed(exchanges: readonly Exchange[]): void {
    const shown = new Set(exchanges.map(({ key }) => key));
    for (const [key, view] of views) {
      if (shown.has(key)) continue;
      standIn(view).remove();
      views.delete(key);
    }
  }

  function addView(exchange: Exchange): TurnView {
    const { key } = exchange;
    const exchangeView = createExchangeView(exchange, {
      createCard: async (approval) =>
        (await loadTools())?.createCard({ isStreamed: true, onChange: onApprovalChange }, approval),
      reader,
      onRetry: () => conversation.retry(key),
    });
    const isHeld = () => isActive(conversation.list.find(key) ?? exchange);
    const view = { ...exchangeView, isHeld };
    views.set(key, view);
    return view;
  }

  /** Loads the tools once there is an answer or an approval to use them on. */
  async function loadTools(): Promise<ChatTools | undefined> {
    isLoading = true;
    tools = await conversation.loader.tools();
    return tools;
  }

  function onApprovalChange({ status }: ApprovalInfo): void {
    if (status !== "pending") conversation.hurry();
  }

  return {
    root,
    jumpButton: keeper.button,
    jump: () => keeper.jump(),
    render() {
      const { exchanges, notice } = conversation;
      const isNew = conversation.list.conversationId === undefined;
      empty.hidden = exchanges.length > 0 || !isNew;
      opening.hidden = exchanges.length > 0 || isNew || notice !== "";
      earlier.hidden = exchanges[0]?.parentId === undefined;
      removeClosed(exchanges);
      const fromEnd = root.scrollHeight - root.scrollTop;
      const isAbove = views.size > 0 && exchanges[0] && !views.has(exchanges[0].key);
      let before: Element = earlier;
      const turns: TurnView[] = [];
      for (const exchange of exchanges) {
        const view = views.get(exchange.key) ?? addView(exchange);
        const place = standIn(view);
        if (before.nextElementSibling !== place) before.after(place);
        before = place;
        turns.push(view);
        view.update(exchange);
        if (tools) tools.drawTurn(conversation, exchange, view.root);
        else if (exchange.answer.done && !isLoading) void loadTools();
      }
      // Earlier messages move nothing of what the reader sees.
      if (isAbove) root.scrollTop = root.scrollHeight - fromEnd;
      keeper.follow();
      turnWindow.show(turns);
    },
  };
}
