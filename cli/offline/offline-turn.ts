import type { ChatCompletionRequest } from "@copilotkit/aimock";
import type { OfflineAnswer, OfflineTurn } from "../../src/testing/run/offline-scenario.ts";

export const text = (content: string): OfflineAnswer => ({ content });

export const call = (name: string, args: Record<string, unknown>): OfflineAnswer => ({
  toolCalls: [{ name, arguments: JSON.stringify(args) }],
});

/** Reads the newest user message of a request, and what followed it. */
export function readTurn({ messages }: ChatCompletionRequest): OfflineTurn {
  const start = messages.findLastIndex((message) => message.role === "user");
  const after = messages.slice(start + 1);
  const results = after.flatMap((message) => {
    if (message.role !== "tool") return [];
    const [, json = "null"] = contentOf(message.content).split("\n");
    const observation = JSON.parse(json) as {
      result_payload?: { data?: Record<string, unknown> | null };
    };
    const data = observation.result_payload?.data;
    return data ? [data] : [];
  });
  return {
    question: contentOf(messages[start]?.content),
    results,
    hasFailed: results.length < after.filter((message) => message.role === "tool").length,
    calls: after.filter((message) => message.role === "assistant").length,
    told: messages.map(({ content }) => contentOf(content)).join("\n"),
  };
}

function contentOf(
  content: ChatCompletionRequest["messages"][number]["content"] | undefined,
): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("");
}
