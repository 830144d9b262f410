// Types of the used part of the AI SDK and of Cloudflare's agents. Type checks run without the
// packages of the bench.

declare module "ai" {
  export function tool<Tool>(definition: Tool): Tool;
  export function jsonSchema(schema: object): object;
  export function convertToModelMessages(messages: readonly object[]): Promise<readonly object[]>;
  export function isStepCount(steps: number): object;
  export function streamText(request: {
    readonly model: object;
    readonly messages: readonly object[];
    readonly tools: object;
    readonly stopWhen: object;
  }): { toUIMessageStreamResponse(): Response };
  export function generateText(request: {
    readonly model: object;
    readonly tools: object;
    readonly prompt: string;
  }): Promise<{ readonly toolResults: readonly { readonly output: unknown }[] }>;
}

declare module "ai/test" {
  export const MockLanguageModelV4: new (model: {
    readonly doGenerate: () => Promise<object>;
  }) => object;
}

declare module "@ai-sdk/openai-compatible" {
  export function createOpenAICompatible(settings: {
    readonly name: string;
    readonly baseURL: string;
    readonly apiKey: string;
    readonly includeUsage: boolean;
  }): (model: string) => object;
}

declare module "@cloudflare/ai-chat" {
  export interface OnChatMessageOptions {
    /** What the request carried beside its messages. */
    readonly body?: Readonly<Record<string, unknown>>;
  }
  export class AIChatAgent {
    protected readonly env: object;
    readonly messages: readonly object[];
    onChatMessage(onFinish: unknown, options?: OnChatMessageOptions): Promise<Response>;
  }
}

declare module "agents" {
  /** Passes a request to the agent that its path names; undefined when it names none. */
  export function routeAgentRequest(request: Request, env: object): Promise<Response | undefined>;
}
