// The AI SDK comes with the bench's own packages, and types are checked without them: this much is used.

declare module "ai" {
  export function tool<Tool>(definition: Tool): Tool;
  export function generateText(request: {
    readonly model: import("ai/test").MockLanguageModelV4;
    readonly tools: object;
    readonly prompt: string;
  }): Promise<{ readonly toolResults: readonly { readonly output: unknown }[] }>;
}

declare module "ai/test" {
  export class MockLanguageModelV4 {
    constructor(model: { readonly doGenerate: () => Promise<object> });
  }
}
