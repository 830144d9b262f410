import { describe, expect, test } from "vitest";
import type { HttpRequest } from "../../../src/capabilities/http.ts";
import { connect, endOf, KEY } from "./http-network.ts";

const BASE = "https://desk.example.com/api/v2";

const at = (path: readonly (string | number)[], more: object = {}): HttpRequest => ({
  method: "GET",
  upstream: "desk",
  path,
  ...more,
});

describe("a name of a path", () => {
  test.each([
    "",
    ".",
    "..",
    "..;",
    "..%3b",
    "..%253bx",
    ".%3b",
    "..?",
    "..#",
    "..;a=b",
    ";a=b",
    "../admin",
    "a/../../admin",
    "/evil.test",
    "//evil.test/",
    "tickets/7",
    "..\\admin",
    "\\\\evil.test\\",
    "..%2fadmin",
    "..%2Fadmin",
    "..%5cadmin",
    "..%252fadmin",
    "%2e%2e",
    "%2E.",
    "%252e%252e",
    "a%00b",
    "a%0d%0ab",
    "a\r\nhost: evil.test",
    "a\0",
    "a\tb",
    "\x7f",
    "\ud800",
  ])("%j is refused, and nothing is sent", async (name) => {
    const { http, requests } = connect();
    expect(await endOf(http.send(at(["tickets", name])))).toBe("http_refused");
    expect(await endOf(http.send(at([name])))).toBe("http_refused");
    expect(requests).toEqual([]);
  });

  test.each([
    ["@evil.test", "%40evil.test"],
    ["user:pass@evil.test", "user%3Apass%40evil.test"],
    ["https:", "https%3A"],
    [":8443", "%3A8443"],
    ["7?admin=true", "7%3Fadmin%3Dtrue"],
    ["7#end", "7%23end"],
    ["50% off", "50%25%20off"],
    ["...", "..."],
    ["a..b", "a..b"],
    ["\u0442\u0438\u043a\u0435\u0442", "%D1%82%D0%B8%D0%BA%D0%B5%D1%82"],
  ])("%j stays one name", async (name, encoded) => {
    const { http, requests } = connect();
    expect(await endOf(http.send(at(["tickets", name, "notes"])))).toBeUndefined();
    expect(requests.map(({ url }) => url)).toEqual([`${BASE}/tickets/${encoded}/notes`]);
  });
});

test("a request goes below the base path, with its parameters", async () => {
  const { http, requests } = connect();
  const query = { status: "open&admin=true", page: 2, all: false };
  await http.send(at(["tickets", 7], { query }));
  await http.send(at([]));
  expect(requests.map(({ url }) => url)).toEqual([
    `${BASE}/tickets/7?status=open%26admin%3Dtrue&page=2&all=false`,
    BASE,
  ]);
});

test.each<[string, object]>([
  ["that the contract does not name", { upstream: "other" }],
  ["that the deployment does not bind", { upstream: "unknown" }],
  ["with a name of every object", { upstream: "__proto__" }],
  ["with an address for a name", { upstream: "https://evil.test" }],
  ["with a URL beside it", { url: "https://api.example.com/" }],
  ["with a text for its path", { path: "tickets" }],
  ["with a text that leaves its path", { path: "/../../admin" }],
])("an upstream %s is refused, and nothing is sent", async (_name, change) => {
  const { http, requests } = connect({ upstreams: ["desk", "unknown"] });
  expect(await endOf(http.send(at(["tickets"], change)))).toBe("http_refused");
  expect(requests).toEqual([]);
});

test("the host of an upstream cannot be reached by its URL", async () => {
  const { http, requests } = connect();
  expect(await endOf(http.send({ method: "GET", url: `${BASE}/tickets` }))).toBe("http_refused");
  expect(requests).toEqual([]);
});

test("the rules of every request hold for an upstream", async () => {
  const { http, requests } = connect({ key: KEY });
  const withHeader = (name: string): HttpRequest => at(["tickets"], { headers: { [name]: "x" } });
  expect(await endOf(http.send(withHeader("authorization")))).toBe("http_refused");
  expect(await endOf(http.send(withHeader("host")))).toBe("http_refused");
  await http.send(at(["tickets"], { method: "POST", body: {} }));
  await expect(http.send(at(["tickets"], { method: "POST" }))).rejects.toThrow("after an effect");
  expect(
    requests.map(({ headers, redirect }) => [headers.get("idempotency-key"), redirect]),
  ).toEqual([[KEY, "manual"]]);
});
