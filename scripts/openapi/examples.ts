import { EXAMPLE_APPROVAL, EXAMPLE_RUN } from "./parameters.ts";

const QUESTION = { role: "user", content: "What time is it in Tokyo?" } as const;
const PARTS = [{ type: "text", text: "What time is it in Tokyo?" }];
const UI_POST = { id: "chat-1", messages: [{ id: "message-1", role: "user", parts: PARTS }] };

/** An example of each body, by method and path; test/http/openapi-examples.test.ts sends each. */
export const EXAMPLES: Readonly<Record<string, unknown>> = {
  "POST /v1/chat": { messages: [QUESTION] },
  "POST /v1/tools/:id/invoke": { arguments: { expression: "6*7" } },
  "PATCH /v1/conversations/:id": { title: "A call with Tokyo" },
  "PUT /v1/conversations/:id/feedback": {
    runId: EXAMPLE_RUN,
    rating: "up",
    comment: "Just what I needed.",
  },
  "POST /v1/runs/:id/messages": { content: "And what time is it in Paris?" },
  "POST /v1/runs/:id/invocations/:invocationId/outcome": { outcome: "committed" },
  "POST /v1/escalations/:id": { action: "take" },
  "POST /v1/approvals/decisions": {
    decisions: [{ approvalId: EXAMPLE_APPROVAL, decision: "approve" }],
  },
  "POST /v1/approvals/:id/decisions": { decision: "approve", reason: "As agreed." },
  "PUT /v1/policy": {
    allowedTools: ["core__get_current_time", { id: "core__calculate" }],
    requireApprovalForEffects: ["state_change"],
    budgets: { maxSteps: 8 },
  },
  "POST /v1/policy/dry-run": {
    policy: { allowedTools: ["core__get_current_time"] },
    calls: 50,
  },
  "PUT /v1/assistants/:id": {
    instructions: "You answer questions about orders.",
    heading: "How can we help?",
    suggestions: ["What time is it in Tokyo?"],
    toolIds: ["core__get_current_time"],
  },
  "PUT /v1/connections/:id": { kind: "bearer", token: "a-token-of-the-service" },
  "PUT /v1/providers/:id": {
    wire: "openai",
    baseUrl: "https://models.example.com/v1",
    apiKey: "a-key-of-the-provider",
    models: [{ name: "house-model" }],
  },
  "POST /v1/embed-tokens": {
    actorId: "user:ann",
    origin: "https://app.hosted.example",
    toolIds: ["core__get_current_time"],
    ttlSeconds: 900,
  },
  "POST /api/chat": UI_POST,
  "POST /api/v6/chat": UI_POST,
  "POST /api/data-stream": {
    id: "chat-1",
    threadId: "thread-1",
    unstable_assistantMessageId: "answer-1",
    messages: [{ role: "user", content: PARTS }],
  },
  "POST /agui": {
    threadId: "thread-1",
    runId: "asked-1",
    messages: [{ id: "message-1", ...QUESTION }],
    state: {},
    tools: [],
    context: [],
    forwardedProps: {},
  },
  "POST /v1/responses": { model: "default", input: "What time is it in Tokyo?" },
  "POST /v1/chat/completions": { model: "default", messages: [QUESTION] },
};
