import {
  AbstractChat,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type ChatState,
  type UIMessage,
} from "ai";

/** The state of a chat without a framework. */
class PlainState implements ChatState<UIMessage> {
  status: ChatState<UIMessage>["status"] = "ready";
  error: Error | undefined;
  messages: UIMessage[] = [];
  pushMessage = (message: UIMessage): void => void this.messages.push(message);
  popMessage = (): void => void this.messages.pop();
  replaceMessage = (index: number, message: UIMessage): void => {
    this.messages[index] = message;
  };
  snapshot = <T>(thing: T): T => structuredClone(thing);
}

/** What the AI SDK's hooks are built on, without a framework. */
class PlainChat extends AbstractChat<UIMessage> {}

export interface UiChat {
  readonly chat: AbstractChat<UIMessage>;
  /** The reasons with which its answers finished. */
  readonly finished: (string | undefined)[];
  /** The bodies of its posts. */
  readonly posted: string[];
}

/** Opens a chat whose posts are answered by `post`; it sends decisions on its own. */
export function openUiChat(post: (body: string) => Promise<Response>, id?: string): UiChat {
  const finished: (string | undefined)[] = [];
  const posted: string[] = [];
  const fetch = (_url: unknown, init?: RequestInit): Promise<Response> => {
    const body = typeof init?.body === "string" ? init.body : "";
    posted.push(body);
    return post(body);
  };
  const chat = new PlainChat({
    ...(id !== undefined && { id }),
    state: new PlainState(),
    transport: new DefaultChatTransport({ fetch }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    onFinish: ({ finishReason }) => void finished.push(finishReason),
  });
  return { chat, finished, posted };
}
