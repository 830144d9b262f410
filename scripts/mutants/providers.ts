import type { Mutant } from "./mutant.ts";

const ROUTES = "test/http/providers.test.ts";

/** What guards a tenant's own model provider. */
export const PROVIDERS: readonly Mutant[] = [
  {
    name: "GET shows a provider's key",
    file: "src/adapters/sealed-providers.ts",
    from: "opened.ok ? ok(withoutKey(opened.value)) : opened",
    to: "opened",
    test: { file: ROUTES, name: "the key is in no answer, no stored value and no audit record" },
  },
  {
    name: "a sealed provider fits every tenant and id",
    file: "src/adapters/sealed-values.ts",
    from: "ok(() => keyRing.open(value, [kind, tenantId, id]))",
    to: 'ok(() => keyRing.open(value, [kind, "acme", "mine"]))',
    test: {
      file: ROUTES,
      name: "a value that was changed, or moved to another tenant or id, is unreadable",
    },
  },
  {
    name: "a provider's address may be http",
    file: "src/protocol/provider/address.ts",
    from: 'protocol === "https:" && DNS_NAME',
    to: 'protocol !== "ftp:" && DNS_NAME',
    test: { file: ROUTES, name: "http://llm.example.com/v1" },
  },
  {
    name: "a provider's address may be an IP address",
    file: "src/protocol/provider/address.ts",
    from: "DNS_NAME.test(hostname) &&",
    to: "",
    test: { file: ROUTES, name: "https://8.8.8.8/v1" },
  },
  {
    name: "a provider's address may be a local name",
    file: "src/protocol/provider/address.ts",
    from: "&& !LOCAL_NAME.test(hostname)",
    to: "",
    test: { file: ROUTES, name: "https://metadata.google.internal/v1" },
  },
  {
    name: "a provider's address may hold credentials",
    file: "src/protocol/provider/address.ts",
    from: '|| url.username !== "" || url.password !== ""',
    to: "",
    test: { file: ROUTES, name: "https://user:pass@llm.example.com/v1" },
  },
];
