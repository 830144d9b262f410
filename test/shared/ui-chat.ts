import {
  AbstractChat,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type ChatState,
  type UIMessage,
} from "ai";
import * as six from "ai-6";

/** The majors of the AI SDK that npm installs today. */
export const MAJORS = [7, 6] as const;
export type Major = (typeof MAJORS)[number];
/** The addresses of each. */
export const API_OF: Readonly<Record<Major, string>> = { 7: "/api/chat", 6: "/api/v6/chat" };

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
class PlainChat6 extends six.AbstractChat<six.UIMessage> {}

export interface UiChat {
  readonly chat: AbstractChat<UIMessage>;
  /** The reasons with which its answers finished. */
  readonly finished: (string | undefined)[];
  /** The bodies of its posts. */
  readonly posted: string[];
}

/** Opens a chat whose posts are answered by `post`; it sends decisions on its own. */
export function openUiChat(
  post: (body: string) => Promise<Response>,
  { id, major = 7 }: { readonly id?: string | undefined; readonly major?: Major } = {},
): UiChat {
  const finished: (string | undefined)[] = [];
  const posted: string[] = [];
  const fetch = (_url: unknown, init?: RequestInit): Promise<Response> => {
    const body = typeof init?.body === "string" ? init.body : "";
    posted.push(body);
    return post(body);
  };
  const options = { ...(id !== undefined && { id }), state: new PlainState() };
  const onFinish = ({ finishReason }: { readonly finishReason?: string | undefined }): void =>
    void finished.push(finishReason);
  const chat =
    major === 7
      ? new PlainChat({
          ...options,
          transport: new DefaultChatTransport({ fetch }),
          sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
          onFinish,
        })
      : new PlainChat6({
          ...(options as object as { readonly state: six.ChatState<six.UIMessage> }),
          transport: new six.DefaultChatTransport({ fetch }),
          sendAutomaticallyWhen: six.lastAssistantMessageIsCompleteWithApprovalResponses,
          onFinish,
        });
  return { chat: chat as AbstractChat<UIMessage>, finished, posted };
}
