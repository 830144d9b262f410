import type { JsonObject } from "../protocol/json/value.ts";
import { wait } from "../client/backoff.ts";
import { createKey } from "../client/ports.ts";
import { createChatApi, listFilter, type RunChoice } from "./chat/stream/api.ts";
import { applyChunk } from "./chat/answer/apply-chunk.ts";
import { EMPTY_ANSWER } from "./chat/answer/answer.ts";
import type { ChatToolsPorts } from "./chat/conversations/chat-tools.ts";
import { createToolsLoader } from "./chat/conversations/load-chat-tools.ts";
import { createCallReader } from "./chat/tool-card/call-reader.ts";
import { createUndoApi, type UndoApi } from "./chat/undo/undo-api.ts";
import { NO_FILES } from "./chat/files/attached-file.ts";
import { loadPageTexts, type PageTexts } from "./chat/page-texts.ts";
import { type ChatView, createChatView } from "./chat/view.ts";
import { PageEvents, type SendEvent } from "./chat/page-events.ts";
import { Conversation, type ConversationPorts } from "./chat/conversation.ts";
import type { SavedChat } from "./session-store.ts";
import { createChatSheets, toSheet } from "./style-sheets.ts";
import { untilSeen } from "./until-seen.ts";
import { type OwnTexts, prepareTexts } from "./texts/prepare-texts.ts";
import { type ElementSession, openElementSession, type TokenSource } from "./element-session.ts";

export { defineToolCard } from "./cards/define-tool-card.ts";

const sheets = createChatSheets();

/**
 * `<interlock-chat>`: a chat with an Interlock server. Attributes: `endpoint`, the server's address
 * (default: this origin); `assistant`, `model`, `tools`, `connections` and `workspace`, the ids
 * that new questions name, lists with spaces between; `takes-focus`; `tokenless`, where the server
 * admits the page without a token, as `npm run dev` does. Properties: `getToken`, for pages that
 * hold the access token, which the element calls before each request, and once more when the server
 * rejected the token; `getContext`, what the page knows, which each new question sends along.
 * Methods: `send`, `newChat`, `openChat` and `focus`; `refreshUndo`, for a page that undid a call
 * of the conversation itself; `refreshApprovals`, for a page whose data changed; `suggest`, for
 * questions of the page's own. Events: those of ChatEvents, and `close`.
 * Contract: an element outside the document holds no connection.
 */
export class InterlockChat extends HTMLElement {
  static readonly observedAttributes = [
    "endpoint",
    "assistant",
    "model",
    "tools",
    "connections",
    "workspace",
    "tokenless",
    "lang",
  ];

  /** Declared, not initialised: a page may set the property before this class is loaded. */
  declare getToken?: TokenSource | undefined;
  declare getContext?: (() => JsonObject | undefined) | undefined;
  #conversation: Conversation | undefined;
  #view: ChatView | undefined;
  #ownTexts: OwnTexts | undefined;
  #preparing: Promise<void> | undefined;
  #undo: UndoApi | undefined;
  #texts: PageTexts = { suggestions: [], takes: NO_FILES };
  #suggested: readonly string[] | undefined;
  #showTexts: ((texts: PageTexts) => void) | undefined;

  connectedCallback(): void {
    document.addEventListener("visibilitychange", this.#lookForNews);
    // A page may have set the property before this class was loaded.
    if (Object.hasOwn(this, "texts")) {
      const { texts } = this;
      Reflect.deleteProperty(this, "texts");
      this.#ownTexts = texts;
    }
    this.#prepare();
  }

  disconnectedCallback(): void {
    document.removeEventListener("visibilitychange", this.#lookForNews);
    this.#conversation?.dispose();
    this.#conversation = undefined;
  }

  /** A reader who returns may have gone on with the chat on another device. */
  readonly #lookForNews = (): void => {
    if (document.visibilityState === "visible") this.#conversation?.lookForNews();
  };

  /**
   * Sends a message as the reader would; during an answer it steers the answer. Returns whether the
   * message was accepted.
   */
  async send(message: string): Promise<boolean> {
    const text = message.trim();
    return text !== "" && this.#view !== undefined && this.#view.send(text);
  }

  /** Opens an empty conversation. The answer of the one before goes on. */
  async newChat(): Promise<void> {
    await this.#conversation?.open();
  }

  /** Opens a conversation of the reader. */
  async openChat(conversationId: string): Promise<void> {
    await this.#conversation?.open(conversationId);
  }

  /** Puts the cursor into the message field. */
  override focus(): void {
    this.#view?.focus();
  }

  /** What the page says in place of texts of the chat. */
  get texts(): OwnTexts | undefined {
    return this.#ownTexts;
  }

  set texts(texts: OwnTexts | undefined) {
    this.#ownTexts = texts;
    if (this.isConnected) this.#prepare();
  }

  /** Reads again which calls can be undone. */
  refreshUndo(): void {
    this.#undo?.elsewhere.dispatchEvent(new Event("undone"));
  }

  /** Offers other questions in an empty conversation; undefined offers those of the assistant. */
  suggest(questions: readonly string[] | undefined): void {
    this.#suggested = questions;
    this.#updateTexts();
  }

  #updateTexts(): void {
    const { suggestions } = this.#texts;
    this.#showTexts?.({ ...this.#texts, suggestions: this.#suggested ?? suggestions });
  }

  /** Reads open approvals again: their calls may not be possible any more. */
  refreshApprovals(): void {
    this.#undo?.elsewhere.dispatchEvent(new Event("changed"));
  }

  attributeChangedCallback(): void {
    if (this.#conversation) this.#prepare();
  }

  /** Starts once the texts of the page are there. */
  #prepare(): void {
    const lang = this.closest("[lang]")?.getAttribute("lang") ?? "";
    const preparing = prepareTexts(lang, this.#ownTexts);
    this.#preparing = preparing;
    if (preparing) void this.#startAfter(preparing);
    else this.#start();
  }

  async #startAfter(preparing: Promise<void>): Promise<void> {
    await preparing;
    if (this.#preparing === preparing && this.isConnected) this.#start();
  }

  readonly #send: SendEvent = (name, detail) => {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  };

  #start(): void {
    this.#conversation?.dispose();
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = sheets;
    const session = openElementSession(this);
    const choice = readChoice(this);
    const { assistantId } = choice;
    const undo = createUndoApi(session.api);
    const events = new PageEvents(this.#send);
    const conversation: Conversation = createConversation(session, choice, {
      undo,
      onChange() {
        events.look(conversation.exchanges, conversation.notice);
        schedule();
      },
      onReturned: (question, files) => view.giveBack(question, files),
      addSheets: (...texts) => root.adoptedStyleSheets.push(...texts.map(toSheet)),
      context: () => this.getContext?.(),
    });
    const showTexts = async () => {
      await untilScriptsRan();
      const texts = await loadPageTexts(session.api, {
        assistantId,
        model: choice.model,
        needsToken: !this.hasAttribute("tokenless"),
      });
      if (!texts || this.#conversation !== conversation) return;
      this.#texts = texts;
      this.#updateTexts();
    };
    this.#undo = undo;
    const view = createChatView(conversation, {
      reader: createCallReader(session.api, undo),
      onClose: () => this.dispatchEvent(new Event("close")),
      onToken(token) {
        session.store.saveToken(token);
        void showTexts();
      },
    });
    const schedule = renderOncePerFrame(view);
    root.replaceChildren(view.root);
    this.#conversation = conversation;
    this.#view = view;
    this.#showTexts = (texts) => view.showTexts(texts);
    conversation.loader.restore(() => findChat(session, !this.hasAttribute("tokenless")));
    view.render();
    void showTexts();
    if (this.hasAttribute("takes-focus")) view.focus();
  }
}

/** Reads what the page chose for new questions. An empty attribute chooses nothing. */
function readChoice(element: HTMLElement): RunChoice {
  const assistantId = element.getAttribute("assistant");
  const model = element.getAttribute("model")?.trim();
  const workspaceId = element.getAttribute("workspace")?.trim();
  const listOf = (name: string): readonly string[] =>
    (element.getAttribute(name) ?? "").split(/\s+/).filter((id) => id !== "");
  const [toolIds, connectionIds] = [listOf("tools"), listOf("connections")];
  return {
    ...(assistantId !== null && { assistantId }),
    ...(model && { model }),
    ...(workspaceId && { workspaceId }),
    ...(toolIds.length > 0 && { toolIds }),
    ...(connectionIds.length > 0 && { connectionIds }),
  };
}

function createConversation(
  session: ElementSession,
  choice: RunChoice,
  {
    addSheets,
    undo,
    ...ports
  }: Pick<ConversationPorts, "onChange" | "onReturned" | "context"> &
    Pick<ChatToolsPorts, "addSheets" | "undo">,
): Conversation {
  const { api, store, canAskForToken } = session;
  return new Conversation({
    api: createChatApi(api, choice),
    wait,
    untilSeen,
    random: () => Math.random(),
    newKey: createKey,
    save: (chat) => store.saveChat(chat),
    tools: createToolsLoader({
      api,
      filter: listFilter(choice),
      addSheets,
      undo,
      readAnswer: (chunks) => chunks.reduce(applyChunk, EMPTY_ANSWER),
    }),
    ...ports,
    canAskForToken,
  });
}

/** Returns the chat of the tab; undefined for the newest one of the reader. */
async function findChat(
  { api, store }: ElementSession,
  needsToken: boolean,
): Promise<SavedChat | undefined> {
  const saved = store.loadChat();
  await untilScriptsRan();
  if (saved) return saved;
  // Without a token nothing is asked, because the server would refuse the page.
  return needsToken && (await api.token()) === undefined ? {} : undefined;
}

/** Draws once per frame, even when many events arrive between two frames. */
function renderOncePerFrame(view: ChatView): () => void {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(() => {
      isScheduled = false;
      view.render();
    });
  };
}

if (!customElements.get("interlock-chat")) customElements.define("interlock-chat", InterlockChat);

/** Waits until the page's own scripts could set properties of the element. */
function untilScriptsRan(): Promise<void> {
  return new Promise((resolve) => {
    if (document.readyState === "complete") setTimeout(resolve);
    else addEventListener("load", () => resolve(), { once: true });
  });
}
