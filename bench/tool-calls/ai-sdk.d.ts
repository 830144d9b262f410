// Types of the used part of the AI SDK. Type checks run without the packages of the bench.

declare module "ai" {
  export function tool<Tool>(definition: Tool): Tool;
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
