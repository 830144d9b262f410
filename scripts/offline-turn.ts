import type { ChatCompletionRequest, FixtureResponse } from "@copilotkit/aimock";

/** Answers of the offline model to one user message. */
export interface Scenario {
  readonly name: string;
  readonly asked: RegExp;
  /** One answer per model call since the user message. The last answer repeats. */
  readonly steps: readonly ((turn: Turn) => FixtureResponse)[];
  /** Unit: tokens per second. */
  readonly speed?: number;
}

/** One user message and what followed it, as the provider sees them. */
export interface Turn {
  readonly question: string;
  /** `result_payload.data` of each observation since the user message, in order. */
  readonly results: readonly Record<string, unknown>[];
  /** A call since the user message ended without data. */
  readonly hasFailed: boolean;
  /** Model calls since the user message. */
  readonly calls: number;
  /** The project that the page shows, if the page told one. */
  readonly projectId: string | undefined;
}

export const text = (content: string): FixtureResponse => ({ content });

export const call = (name: string, args: Record<string, unknown>): FixtureResponse => ({
  toolCalls: [{ name, arguments: JSON.stringify(args) }],
});

/** Reads the newest user message of a request, and what followed it. */
export function readTurn({ messages }: ChatCompletionRequest): Turn {
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
  const told = messages.map(({ content }) => contentOf(content)).join("\n");
  const projects = [...told.matchAll(/"page":"GamePlan","projectId":"([\w-]+)"/g)];
  return {
    question: contentOf(messages[start]?.content),
    results,
    hasFailed: results.length < after.filter((message) => message.role === "tool").length,
    calls: after.filter((message) => message.role === "assistant").length,
    projectId: projects.at(-1)?.[1],
  };
}

function contentOf(
  content: ChatCompletionRequest["messages"][number]["content"] | undefined,
): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("");
}
