import type { Mutant } from "./mutant.ts";

const ATTACKS = "test/http/assistant-attacks.test.ts";
const CONTEXT = "test/http/assistant-context.test.ts";
const PAGES = "test/http/assistant-pages.test.ts";
const SETTINGS = "test/http/assistant-settings.test.ts";

/** What keeps instructions with their operators, and runs within their assistant. */
export const ASSISTANTS: readonly Mutant[] = [
  {
    name: "every client may send a system message",
    file: "src/http/claim/read-sent.ts",
    from: "isPlain || scopes.includes(SYSTEM_SCOPE)",
    to: "isPlain || scopes.length > 0",
    test: { file: ATTACKS, name: "is refused without the scope chat:system" },
  },
  {
    name: "a request replaces the model of its assistant",
    file: "src/http/claim/choose-model.ts",
    from: "assistant.model ?? requested ?? models[0].id",
    to: "requested ?? assistant.model ?? models[0].id",
    test: { file: ATTACKS, name: "keeps the model that it names" },
  },
  {
    name: "the tools of an assistant do not narrow those of a run",
    file: "src/protocol/policy/narrow-run.ts",
    from: "meet([named.toolIds, embed?.toolIds, assistant?.toolIds])",
    to: "meet([named.toolIds, embed?.toolIds])",
    test: { file: ATTACKS, name: "neither offers nor runs a tool that is not its own" },
  },
  {
    name: "a request adds tools to those of its assistant",
    file: "src/http/claim/read-allowed.ts",
    from: "narrowRun({ embed, assistant: assistant?.document })",
    to: "narrowRun({ embed })",
    test: { file: ATTACKS, name: "neither offers nor runs a tool that is not its own" },
  },
  {
    name: "a page chooses its assistant",
    file: "src/http/claim/choose-assistant.ts",
    from: "bound !== undefined && asked !== bound",
    to: 'bound === asked && bound === ""',
    test: { file: PAGES, name: "a page cannot use another assistant than that of its token" },
  },
  {
    name: "a page sees the runs of every assistant",
    file: "src/protocol/identity/viewer.ts",
    from: "run.origin === origin && run.assistantId === assistantId",
    to: "run.origin === origin && assistantId !== undefined",
    test: { file: PAGES, name: "a page cannot read, steer or continue a run of another assistant" },
  },
  {
    name: "a page gets the whole document of its assistant",
    file: "src/http/pages/page-texts.ts",
    from: "{ assistantId: pin.id, ...(heading && { heading }), suggestions }",
    to: "{ assistantId: pin.id, ...document, heading, suggestions }",
    test: { file: PAGES, name: "no answer that a page can get holds the instructions" },
  },
  {
    name: "an assistant raises the longest answer of an embed token",
    file: "src/protocol/policy/narrow-run.ts",
    from: "Math.min(maxOutputTokens, budgets?.maxOutputTokens ?? Infinity)",
    to: "maxOutputTokens",
    test: { file: PAGES, name: "an assistant does not raise the longest answer of a token" },
  },
  {
    name: "what the hook gave is not stored",
    file: "durable-objects/run/stored-journal.ts",
    from: 'this.#ports.prompt.put("hook_context", { ...context } as JsonObject);',
    to: "void context;",
    test: {
      file: CONTEXT,
      name: "is asked once per run, also when the run waits and its object restarts",
    },
  },
  {
    name: "context leaves its label",
    file: "src/protocol/text/label-data.ts",
    from: "escapeJson(JSON.stringify(value))",
    to: "JSON.stringify(value)",
    test: { file: CONTEXT, name: "of the request stays inside its label" },
  },
  {
    name: "context has the rank of instructions",
    file: "src/loop/prompt.ts",
    from: '...toMessage("user", context',
    to: '...toMessage("system", context',
    test: {
      file: CONTEXT,
      name: "reaches the model as labelled data of the user, in this run only",
    },
  },
  {
    name: "a request sends any amount of context",
    file: "src/protocol/assistant/context.ts",
    from: "<= MAX_REQUEST_BYTES",
    to: "<= Infinity",
    test: { file: CONTEXT, name: "that is more than 8 KiB is refused" },
  },
  {
    name: "a run goes on although the hook failed",
    file: "src/loop/run-loop.ts",
    from: "if (!scope.prompt.ok) return scope.prompt;",
    to: "",
    test: { file: CONTEXT, name: "ends the run before any model call when it throws" },
  },
  {
    name: "a forced choice of tools never ends",
    file: "src/loop/relay-answer.ts",
    from: "isForced && state.invocations.hasCalls",
    to: "false",
    test: { file: SETTINGS, name: "a forced choice of tools ends with the first call of a run" },
  },
  {
    name: "an assistant is not checked against its model again",
    file: "src/http/claim/choose-model.ts",
    from: "if (!unfit) return found;",
    to: "if (!unfit || found.ok) return found;",
    test: { file: SETTINGS, name: "its model lost an ability" },
  },
  {
    name: "a run that waited has lost its instructions",
    file: "durable-objects/run/open-run.ts",
    from: 'prompt.read("instructions")',
    to: 'prompt.read("" as never)',
    test: {
      file: ATTACKS,
      name: "a run keeps the document that it pinned, also when another one is stored while it waits",
    },
  },
  {
    name: "an assistant is found under its id alone",
    file: "src/adapters/tenant/cached-assistants.ts",
    from: "`${tenantId}/${id}`",
    to: "id",
    test: { file: ATTACKS, name: "of another tenant gets exactly the answer of an unknown one" },
  },
  {
    name: "every reader of policies reads assistants",
    file: "src/http/tenant/assistants.ts",
    from: 'GET: { scope: "assistants:read", refusesEmbedTokens: true, handle: getAssistants }',
    to: 'GET: { scope: "chat", handle: getAssistants }',
    test: { file: ATTACKS, name: "is not read or changed without its scopes" },
  },
  {
    name: "a value of the instructions begins new lines",
    file: "src/protocol/assistant/template.ts",
    from: 'value.replaceAll(notPlain(), " ")',
    to: "value",
    test: {
      file: "test/protocol/assistant/template.test.ts",
      name: "a value stays on one line, without angle brackets and hidden characters",
    },
  },
  {
    name: "everybody who reads a run reads its context",
    file: "src/http/runs/runs.ts",
    from: '{ scope: "audit:read", handle: getContext }',
    to: '{ scope: "runs:read", handle: getContext }',
    test: {
      file: "test/http/assistant-context.test.ts",
      name: "is not shown to the person of the run, or to another tenant",
    },
  },
  {
    name: "an assistant is replaced whatever revision its author read",
    file: "durable-objects/tenant/head/assistant-list.ts",
    from: 'if (pin?.revision !== expectedRevision) return { kind: "conflict", ...(pin && { pin }) };',
    to: "",
    test: {
      file: "test/http/assistants.test.ts",
      name: "replaces an assistant only at the revision that they read",
    },
  },
  {
    name: "a default assistant stands in when the tenant's cannot be read",
    file: "src/adapters/tenant/cached-assistants.ts",
    from: "const stored = await registry.read(tenantId, id);",
    to: "const stored = await registry.read(tenantId, id).catch(() => undefined);",
    test: {
      file: "test/http/assistants.test.ts",
      name: "an assistant that cannot be read is a 503, and no other assistant stands in",
    },
  },
  {
    name: "a value of the instructions is read as a template",
    file: "src/protocol/assistant/template.ts",
    from: 'return toOneLine(value ?? "");',
    to: 'return toOneLine((value ?? "").replaceAll(VARIABLE, (_all, name: string) => values.get(name) ?? ""));',
    test: {
      file: "test/protocol/assistant/template.test.ts",
      name: "a value is not read as a template",
    },
  },
];
