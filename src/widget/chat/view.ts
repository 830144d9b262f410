import { announce } from "./announcement.ts";
import { Composer } from "./composer.ts";
import type { Conversation } from "./conversation.ts";
import type { AttachedFile } from "./files/attached-file.ts";
import { createEmptyState } from "./empty-state.ts";
import { createHeader } from "./header.ts";
import { createLog } from "./log.ts";
import type { PageTexts } from "./page-texts.ts";
import { el, setText } from "../dom.ts";
import type { CallReader } from "./tool-card/call-reader.ts";
import { createTokenForm } from "../token-form.ts";

export interface ChatView {
  readonly root: HTMLElement;
  /** Sends a message as the message field does. Returns whether it was accepted. */
  send(message: string): Promise<boolean>;
  /** Draws the conversation as it is now. */
  render(): void;
  focus(): void;
  /** Gives the reader a question back that was not asked. */
  giveBack(question: string, files: readonly AttachedFile[]): void;
  /** Shows the texts of the assistant in an empty conversation. */
  showTexts(texts: PageTexts): void;
}

export interface ChatViewPorts {
  readonly reader: CallReader;
  readonly onToken: (token: string) => void;
  /** The reader closes the window that the chat stands in. */
  readonly onClose: () => void;
}

/** Shows a conversation, and turns the reader's actions into calls on it. */
export function createChatView(
  conversation: Conversation,
  { reader, onToken, onClose }: ChatViewPorts,
): ChatView {
  let wasRefused = false;
  const parts = createParts(conversation, {
    reader,
    onClose,
    onToken(token) {
      wasRefused = true;
      onToken(token);
    },
  });
  const { header, empty, log, notice, announcer, composer, tokenForm } = parts;
  return {
    root: parts.root,
    send: parts.send,
    focus: () => composer.focus(),
    giveBack: (question, files) => composer.giveBack(question, files),
    showTexts(texts) {
      empty.update(texts);
      void composer.take(texts.takes);
    },
    render() {
      const { exchanges, isBusy, isStopping, isLocked } = conversation;
      if (exchanges.some(({ link }) => link === "open" || link === "done")) wasRefused = false;
      header.update(conversation.list);
      log.render();
      setText(notice, conversation.notice);
      notice.hidden = conversation.notice === "";
      composer.root.hidden = isLocked;
      composer.update({ isBusy, isStopping });
      tokenForm.update({ isNeeded: isLocked, wasRefused });
      const last = exchanges.at(-1);
      if (last) setText(announcer, announce(last));
    },
  };
}

function createParts(conversation: Conversation, { reader, onToken, onClose }: ChatViewPorts) {
  const header = createHeader({
    onNew() {
      void conversation.open();
      composer.focus();
    },
    onList: () => void openList(),
    onClose,
  });
  const composer = new Composer({ onSend: send, onStop: () => conversation.stop() });
  const tokenForm = createTokenForm((token) => {
    onToken(token);
    conversation.unlock();
    composer.focus();
  });
  const empty = createEmptyState((question) => ask(question));
  const log = createLog(conversation, { empty: empty.root, reader });
  const notice = el("p", { class: "notice", part: "notice", role: "alert", hidden: "" });
  const announcer = el("p", { class: "sr", role: "status" });
  const footer = el("slot", { name: "footer" });
  const foot = el("div", { class: "foot" }, log.jumpButton, notice, tokenForm.root);
  foot.append(composer.root, footer);
  const root = el("div", { class: "chat" }, header.root, log.root, foot, announcer);
  composer.acceptDrops(root);
  return { root, send, header, composer, tokenForm, empty, log, notice, announcer };

  /** During an answer a message steers it; otherwise it starts a new exchange. */
  async function send(text: string, files: readonly AttachedFile[] = []): Promise<boolean> {
    await conversation.loader.opened;
    return conversation.isBusy ? conversation.steer(text) : ask(text, files);
  }

  async function openList(): Promise<void> {
    const tools = await conversation.loader.tools();
    const onClose = (isChosen: boolean) => (isChosen ? composer : header.chats).focus();
    tools?.openList({ conversation, chat: root, onClose });
  }

  function ask(question: string, files: readonly AttachedFile[] = []): boolean {
    if (conversation.isBusy) return false;
    conversation.ask(question, files);
    log.jump();
    return true;
  }
}
