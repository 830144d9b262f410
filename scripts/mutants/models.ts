import type { Mutant } from "./mutant.ts";

/** What keeps models to what they may take, cost and replace. */
export const MODELS: readonly Mutant[] = [
  {
    name: "each step encodes the whole conversation",
    file: "src/wire/model/encoded-once.ts",
    from: "if (found) return found;",
    to: "void found;",
    test: {
      file: "test/wire/model/encoded-once.test.ts",
      name: "encodes each message and each tool once, however many steps send it",
    },
  },
  {
    name: "each step writes the text of the whole conversation",
    file: "src/wire/model/encoded-once.ts",
    from: "TEXTS.get(value) ?? JSON.stringify(value)",
    to: "JSON.stringify(value)",
    test: {
      file: "test/wire/model/encoded-once.test.ts",
      name: "writes the text of what was encoded once, once",
    },
  },
  {
    name: "any secret may be a provider's key",
    file: "src/protocol/model/check-declaration.ts",
    from: 'secret: v.optional(settingName("_API_KEY")),',
    to: "secret: v.optional(word),",
    test: {
      file: "test/env.test.ts",
      name: "cannot make a secret of another purpose a provider's key",
    },
  },
  {
    name: "a setting goes to a model that cannot take it",
    file: "src/adapters/model/fit-request.ts",
    from: "...(temperature !== undefined && can.temperature && { temperature }),",
    to: "...(temperature !== undefined && { temperature }),",
    test: {
      file: "test/adapters/model/fit-request.test.ts",
      name: "stays away from a model that cannot take it",
    },
  },
  {
    name: "the price of a model is not held",
    file: "src/loop/model-budget.ts",
    from: "const cost = this.#cost.bound(input, output);",
    to: "const cost = this.#cost.bound(0, 0);",
    test: {
      file: "test/http/model-prices.test.ts",
      name: "costs the bound when the provider reports no usage",
    },
  },
  {
    name: "the price of the fallbacks is not held",
    file: "src/loop/model-cost.ts",
    from: "const prices = [model, ...others].flatMap(",
    to: "const prices = [model].flatMap(",
    test: {
      file: "test/http/model-prices.test.ts",
      name: "holds what the dearest model of its fallback list would cost",
    },
  },
  {
    name: "a report below what the bytes show is believed",
    file: "src/loop/shown-tokens.ts",
    from: "return usage.outputTokens >= toTokens((text?.length ?? 0) + calls);",
    to: "return calls >= 0 && text !== null;",
    test: {
      file: "test/http/model-prices.test.ts",
      name: "costs the bound when the provider reports fewer output tokens than its text has",
    },
  },
  {
    name: "a request that is reported too small is believed",
    file: "src/loop/shown-tokens.ts",
    from: "usage.inputTokens < Math.max(1, inputTokens)",
    to: "usage.inputTokens < Math.min(1, inputTokens)",
    test: {
      file: "test/http/model-prices.test.ts",
      name: "costs the bound when the provider reports fewer input tokens than the request has",
    },
  },
  {
    name: "prices in another currency count as the budget's",
    file: "src/loop/model-cost.ts",
    from: "return prices && prices.currency !== currency",
    to: 'return prices && currency === ""',
    test: {
      file: "test/http/model-prices.test.ts",
      name: "is refused when its prices are in another currency than the budgets",
    },
  },
  {
    name: "a fallback is asked also where another key or request is needed",
    file: "src/loop/failed-call.ts",
    from: 'return isFailing ? "failing" : undefined;',
    to: 'return "failing";',
    test: {
      file: "test/http/fallback.test.ts",
      name: "keeps a step that its provider refuses with 401",
    },
  },
  {
    name: "the text of the model that failed stays",
    file: "src/loop/ask-model.ts",
    from: 'if (parts.length > 0) journal.append([{ type: "text_withdrawn", parts }]);',
    to: "",
    test: {
      file: "test/http/fallback.test.ts",
      name: "hands over an answer that breaks off, and its text is withdrawn",
    },
  },
  {
    name: "a fallback is paid at the prices of the model of the request",
    file: "src/loop/model-budget.ts",
    from: "const cost = this.#cost.of(reservation.model ?? this.#ports.claim.model, usage);",
    to: "const cost = this.#cost.of(this.#ports.claim.model, usage);",
    test: {
      file: "test/http/model-prices.test.ts",
      name: "holds what the dearest model of its fallback list would cost",
    },
  },
  {
    name: "a fallback is not recorded in the audit log",
    file: "src/loop/fall-back.ts",
    from: 'action: "model.changed",',
    to: 'action: "run.started",',
    test: {
      file: "test/http/fallback.test.ts",
      name: "hands the step to its fallback when its provider answers 503",
    },
  },
  {
    name: "a fallback that takes no tools is asked in the middle of tool calls",
    file: "src/loop/fall-back.ts",
    from: "return can.tools || !usesTools;",
    to: "return can.tools || usesTools;",
    test: {
      file: "test/http/fallback.test.ts",
      name: "passes the step down the list, over a model that takes no tools",
    },
  },
  {
    name: "a crash sends the run back to the model that failed",
    file: "src/loop/run-loop.ts",
    from: "model: facts.answer?.model ?? claim.model,",
    to: "model: claim.model,",
    test: { file: "test/loop/fall-back.test.ts", name: "keeps the run after a crash" },
  },
  {
    name: "every offered or spare model may be named by a request",
    file: "src/protocol/model/catalog.ts",
    from: "const offered = listed.flatMap(",
    to: "const offered = all.flatMap(",
    test: {
      file: "test/http/fallback.test.ts",
      name: "a request cannot name a model that is only a fallback",
    },
  },
  {
    name: "the check of models prints what a provider says",
    file: "cli/models/list-models.ts",
    from: "await response.body?.cancel();\n      return fail(`it answered with HTTP ${response.status}`);",
    to: "return fail(await response.text());",
    test: {
      file: "test/cli/models.node.test.ts",
      name: "never prints the key, whatever a provider answers, and follows no redirect",
    },
  },
  {
    name: "the check of models follows redirects",
    file: "cli/models/list-models.ts",
    from: 'redirect: "manual",',
    to: 'redirect: "follow",',
    test: {
      file: "test/cli/models.node.test.ts",
      name: "never prints the key, whatever a provider answers, and follows no redirect",
    },
  },
];
