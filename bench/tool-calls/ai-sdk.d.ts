// Types of the used part of the AI SDK. Type checks run without the packages of the bench.

declare module "ai" {
  export function tool<Tool>(definition: Tool): Tool;
  export function jsonSchema(schema: object): object;
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
