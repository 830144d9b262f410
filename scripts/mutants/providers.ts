import type { Mutant } from "./mutant.ts";

const ROUTES = "test/http/providers.test.ts";
const RUNS = "test/http/own-provider.test.ts";

/** What guards a tenant's own model provider. */
export const PROVIDERS: readonly Mutant[] = [
  {
    name: "each read of an answer has a timer of its own",
    file: "src/adapters/egress/http-exchange.ts",
    from: "if (this.#stopTimer === undefined) this.#look",
    to: "this.#look",
    test: {
      file: "test/adapters/model/openai-model.test.ts",
      name: "a model call costs one request, one abort controller and one timer",
    },
  },
  {
    name: "an answer whose connection stays open is not let go",
    file: "src/adapters/egress/http-exchange.ts",
    from: "else this.close();",
    to: "",
    test: {
      file: "test/adapters/model/openai-model.test.ts",
      name: "in a Worker [DONE] ends the call, and a body that stays open is let go",
    },
  },
  {
    name: "GET shows a provider's key",
    file: "src/adapters/secrets/sealed-providers.ts",
    from: "opened.ok ? ok(withoutKey(opened.value)) : opened",
    to: "opened",
    test: { file: ROUTES, name: "the key is in no answer, no stored value and no audit record" },
  },
  {
    name: "a sealed provider fits every tenant and id",
    file: "src/adapters/secrets/sealed-values.ts",
    from: "ok(() => keyRing.open(value, [kind, tenantId, id]))",
    to: 'ok(() => keyRing.open(value, [kind, "acme", "mine"]))',
    test: {
      file: ROUTES,
      name: "a value that was changed, or moved to another tenant or id, is unreadable",
    },
  },
  {
    name: "a provider's address may be http",
    file: "src/protocol/connection/public-address.ts",
    from: 'protocol === "https:" && DNS_NAME',
    to: 'protocol !== "ftp:" && DNS_NAME',
    test: { file: ROUTES, name: "http://llm.example.com/v1" },
  },
  {
    name: "a provider's address may be an IP address",
    file: "src/protocol/connection/public-address.ts",
    from: "DNS_NAME.test(hostname) &&",
    to: "",
    test: { file: ROUTES, name: "https://8.8.8.8/v1" },
  },
  {
    name: "a provider's address may be a local name",
    file: "src/protocol/connection/public-address.ts",
    from: "&& !LOCAL_NAME.test(hostname)",
    to: "",
    test: { file: ROUTES, name: "https://metadata.google.internal/v1" },
  },
  {
    name: "a provider's address may hold credentials",
    file: "src/protocol/connection/service-address.ts",
    from: '|| url.username !== "" || url.password !== ""',
    to: "",
    test: { file: ROUTES, name: "https://user:pass@llm.example.com/v1" },
  },
  {
    name: "an address is not checked when its provider is opened",
    file: "src/adapters/secrets/sealed-providers.ts",
    from: "parseTenantProvider(text, ports.addressRules)",
    to: "(JSON.parse(text) as TenantProvider)",
    test: {
      file: RUNS,
      name: "an address that was sealed before the rules refused it is never asked",
    },
  },
  {
    name: "every model of a provider is allowed",
    file: "src/protocol/provider/tenant-provider.ts",
    from: "models.find(({ name }) => name === asked.name)",
    to: "models[0]",
    test: { file: RUNS, name: "a model that the tenant does not allow" },
  },
  {
    name: "a run may name a provider of another tenant",
    file: "src/http/claim/choose-model.ts",
    from: "services.providers.find(principal.tenantId, asked.providerId)",
    to: 'services.providers.find("rival" as typeof principal.tenantId, asked.providerId)',
    test: { file: RUNS, name: "a provider of another tenant" },
  },
  {
    name: "a model of the deployment answers in place of a missing provider",
    file: "src/adapters/model/model-router.ts",
    from: "isTenantModel(request.model) ? own : deployed(request.model)",
    to: 'deployed(request.model.split("/").at(-1) ?? "") ?? own',
    test: {
      file: RUNS,
      name: "no request to a tenant's provider carries a key of the deployment",
    },
  },
  {
    name: "a deleted provider counts as a pause",
    file: "src/adapters/model/tenant-models.ts",
    from: 'code: "provider_missing",',
    to: 'code: "upstream_unreachable",',
    test: { file: RUNS, name: "when the provider is deleted" },
  },
  {
    name: "a key in an answer's text is shown",
    file: "src/adapters/model/hide-key.ts",
    from: "texts[event.type].add(event.text)",
    to: "event.text",
    test: { file: RUNS, name: "in its answer, on openai" },
  },
  {
    name: "a key in a tool call is shown",
    file: "src/adapters/model/hide-key.ts",
    from: "argumentsText: hideArguments(argumentsText, apiKey),",
    to: "argumentsText,",
    test: { file: RUNS, name: "in its answer, on openai" },
  },
  {
    name: "an error keeps an encoded key",
    file: "src/adapters/model/hide-key.ts",
    from: "const hidden = hideForms(detail);",
    to: 'const hidden = detail.replaceAll("own/key+0123456789=abcdef", HIDDEN);',
    test: { file: RUNS, name: "in its error-base64" },
  },
  {
    name: "a key in sealed reasoning is kept",
    file: "src/adapters/model/hide-key.ts",
    from: "opaque && !JSON.stringify(opaque.items).includes(apiKey)",
    to: "opaque !== undefined",
    test: {
      file: "test/adapters/model/hide-key.test.ts",
      name: "a key is hidden in calls and failures, and what holds it verbatim is dropped",
    },
  },
  {
    name: "a model call follows redirects",
    file: "src/adapters/model/http-model.ts",
    from: 'redirect: "manual",',
    to: "",
    test: { file: RUNS, name: "a redirect is a failure, and nothing goes where it leads" },
  },
  {
    name: "a fallback of a tenant's model is a model of the deployment",
    file: "src/protocol/provider/tenant-provider.ts",
    from: "fallback: fallback.map((other) => formatTenantModel({ ...asked, name: other })),",
    to: "fallback,",
    test: {
      file: "test/http/own-provider-models.test.ts",
      name: "never hands it to a model of the deployment, also under the same name",
    },
  },
  {
    name: "a fallback may be a model that the provider does not list",
    file: "src/protocol/provider/tenant-provider.ts",
    from: "found.length === fallback.length &&",
    to: "",
    test: {
      file: "test/http/own-provider-models.test.ts",
      name: "that the provider does not list",
    },
  },
  {
    name: "the run does not know the prices of a tenant's model",
    file: "src/protocol/provider/tenant-provider.ts",
    from: "...(prices && { prices }),",
    to: "",
    test: {
      file: "test/http/own-provider-models.test.ts",
      name: "by its prices, and refuses a call that the money cannot pay",
    },
  },
  {
    name: "escapes of JSON carry a key through the arguments of a call",
    file: "src/adapters/model/hide-key.ts",
    from: "argumentsText: hideArguments(argumentsText, apiKey),",
    to: "argumentsText: hide(argumentsText),",
    test: {
      file: "test/adapters/model/hide-key.test.ts",
      name: "the escapes of JSON do not carry a key through the arguments of a call",
    },
  },
  {
    name: "the key of a provider is stored in the clear too",
    file: "src/adapters/secrets/sealed-values.ts",
    from: "await kv.put(keyOf(tenantId, id), JSON.stringify(value));",
    to: "await kv.put(keyOf(tenantId, id), JSON.stringify({ ...value, text }));",
    test: {
      file: "test/http/providers.test.ts",
      name: "the key is in no answer, no stored value and no audit record",
    },
  },
  {
    name: "a provider is asked with another key than its own",
    file: "src/adapters/model/tenant-models.ts",
    from: "ok({ model, wire, baseUrl, apiKey, fetch, clock })",
    to: "ok({ model, wire, baseUrl, apiKey: `sk-deployment${apiKey.length}`, fetch, clock })",
    test: {
      file: "test/http/own-provider.test.ts",
      name: "a run asks the tenant's provider with its key alone, tools included",
    },
  },
  {
    name: "a provider gets the id of a model as its name",
    file: "src/protocol/provider/tenant-provider.ts",
    from: "id: formatTenantModel(asked),\n    wire,\n    name,",
    to: "id: formatTenantModel(asked),\n    wire,\n    name: formatTenantModel(asked),",
    test: {
      file: "test/http/own-provider.test.ts",
      name: "a run asks the tenant's provider with its key alone, tools included",
    },
  },
  {
    name: "a key that arrives in two deltas is shown",
    file: "src/adapters/model/hide-key.ts",
    from: "texts[event.type].add(event.text)",
    to: "event.text.replaceAll(apiKey, HIDDEN)",
    test: { file: "test/http/own-provider.test.ts", name: "in its answer, on openai" },
  },
];
