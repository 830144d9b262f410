import { describe, expect, test } from "vitest";
import type { HttpRequest } from "../../../src/capabilities/http.ts";
import { connect, endOf, get, KEY, post } from "./http-network.ts";

describe("an address", () => {
  test.each([
    ["of another host", "https://evil.test/"],
    ["with the host as its user", "https://api.example.com@evil.test/"],
    ["with the host as its user and password", "https://api.example.com:443@evil.test/"],
    ["with a user", "https://ann@api.example.com/"],
    ["with a password", "https://:secret@api.example.com/"],
    ["that ends like another host", "https://api.example.com.evil.test/"],
    ["of a host below", "https://www.api.example.com/"],
    ["of the host above", "https://example.com/"],
    ["with a dot at the end of the host", "https://api.example.com./"],
    ["without encryption", "http://api.example.com/"],
    ["of another port", "https://api.example.com:8443/"],
    ["without the port", "https://port.example.com/"],
    ["of another port of this machine", "http://127.0.0.1:8788/"],
    ["of this machine under a name that is not listed", "http://127.0.0.2:8787/"],
    ["with a backslash before another host", "https://evil.test\\@api.example.com/"],
    ["with a line break in the scheme of another host", "https:/\n/evil.test/"],
    ["with letters of another script", "https://\u0430pi.example.com/"],
    ["with a separator of another script", "https://evil.test\uff0fapi.example.com/"],
    ["of an IP address", "https://10.0.0.1/"],
    ["of the metadata service", "http://169.254.169.254/latest/meta-data/"],
    ["of no host", "file:///etc/passwd"],
    ["of data", "data:text/plain,hello"],
    ["without a scheme", "//api.example.com/"],
    ["of a path alone", "/things"],
    ["of nothing", ""],
    ["of a socket", "wss://api.example.com/"],
    ["of this machine under a port it has anyway", "https://localhost:80/"],
  ])("%s is refused, and nothing is sent", async (_name, url) => {
    const { http, requests } = connect();
    const sent = await http.send(get(url));
    expect(sent).toEqual({
      ok: false,
      failure: {
        taxonomyClass: "POLICY_VIOLATION",
        errors: [
          {
            field: null,
            code: "http_refused",
            message: "the address is not allowed",
          },
        ],
      },
    });
    expect(requests).toEqual([]);
  });

  test.each([
    ["as it is listed", "https://api.example.com/a?b=c", "https://api.example.com/a?b=c"],
    ["in capitals", "HTTPS://API.EXAMPLE.COM/", "https://api.example.com/"],
    ["with its scheme's own port", "https://api.example.com:443/", "https://api.example.com/"],
    [
      "with the port that is listed",
      "https://port.example.com:8443/",
      "https://port.example.com:8443/",
    ],
    [
      "that hides another in its path",
      "https://api.example.com/@evil.test",
      "https://api.example.com/@evil.test",
    ],
    ["of this machine", "http://127.0.0.1:8787/", "http://127.0.0.1:8787/"],
    ["of this machine by name", "http://localhost/", "http://localhost/"],
    ["of this machine in version 6", "http://[0::1]/", "http://[::1]/"],
    ["with a line break within", "https://api.exa\nmple.com/", "https://api.example.com/"],
  ])("%s is reached as it was compared", async (_name, url, reached) => {
    const { http, requests } = connect();
    expect(await endOf(http.send(get(url)))).toBeUndefined();
    expect(requests.map((request) => request.url)).toEqual([reached]);
  });

  test("an empty list reaches nothing", async () => {
    const { http, requests } = connect({ hosts: [] });
    expect(await endOf(http.send(get("https://api.example.com/")))).toBe("http_refused");
    expect(requests).toEqual([]);
  });
});

describe("a header", () => {
  const withHeader = (name: string, value = "x"): HttpRequest =>
    get("https://api.example.com/", { headers: { [name]: value } });

  test.each([
    "Host",
    "Cookie",
    "Idempotency-Key",
    "IDEMPOTENCY-KEY",
    "Authorization",
    "Content-Length",
    "Transfer-Encoding",
    "Connection",
    "Upgrade",
    "Proxy-Authorization",
    "X-Forwarded-For",
    "CF-Connecting-IP",
    "X-HTTP-Method-Override",
    "Accept-Encoding",
    "",
    "a b",
    "a:b",
    "x\r\nhost",
  ])("%j is not the author's to set", async (name) => {
    const { http, requests } = connect({ key: KEY });
    expect(await endOf(http.send(withHeader(name)))).toBe("http_refused");
    expect(requests).toEqual([]);
  });

  test.each(["a\r\nhost: evil.test", "a\nb", "a\rb", "a\0b", "\u00e9", "a\u2028b"])(
    "value %j is refused",
    async (value) => {
      const { http, requests } = connect();
      expect(await endOf(http.send(withHeader("x-note", value)))).toBe("http_refused");
      expect(requests).toEqual([]);
    },
  );

  test("of the author's goes out", async () => {
    const { http, requests } = connect();
    const headers = { Accept: "text/plain", "If-Match": '"1"', "X-Api-Key": "k" };
    expect(await endOf(http.send(get("https://api.example.com/", { headers })))).toBeUndefined();
    expect(requests[0]?.headers.get("if-match")).toBe('"1"');
    expect(requests[0]?.headers.get("x-api-key")).toBe("k");
  });

  test("with credentials goes out for a tool that holds a connection", async () => {
    const { http, requests } = connect({ mayAuthorise: true });
    const sent = http.send(withHeader("authorization", "Bearer t"));
    expect(await endOf(sent)).toBeUndefined();
    expect(requests[0]?.headers.get("authorization")).toBe("Bearer t");
  });

  test("of a key under another name is not the author's either", async () => {
    const { http } = connect({ keyHeader: "X-Request-Key", key: KEY });
    expect(await endOf(http.send(withHeader("x-request-key")))).toBe("http_refused");
    expect(await endOf(http.send(withHeader("idempotency-key")))).toBe("http_refused");
  });
});

describe("the key of the invocation", () => {
  test("goes with every request of a tool that changes something", async () => {
    const { http, requests } = connect({ key: KEY });
    await http.send(get("https://api.example.com/"));
    await http.send(post());
    await http.send(get("https://api.example.com/"));
    expect(requests.map(({ headers }) => headers.get("idempotency-key"))).toEqual([KEY, KEY, KEY]);
  });

  test("goes under the header that the contract names", async () => {
    const { http, requests } = connect({ key: KEY, keyHeader: "X-Request-Key" });
    await http.send(post());
    expect(requests[0]?.headers.get("x-request-key")).toBe(KEY);
    expect(requests[0]?.headers.has("idempotency-key")).toBe(false);
  });

  test("stays where it is for a tool that changes nothing", async () => {
    const { http, requests } = connect();
    await http.send(post());
    await http.send(post());
    expect(requests.map(({ headers }) => headers.has("idempotency-key"))).toEqual([false, false]);
  });

  test("is one effect: a second request that changes something throws, and is not sent", async () => {
    const { http, requests } = connect({ key: KEY });
    await http.send(post());
    await expect(http.send(post())).rejects.toThrow("refused after an effect");
    await expect(http.send(get("https://evil.test/"))).rejects.toThrow("refused after an effect");
    expect(requests).toHaveLength(1);
  });

  test("is one effect even when both are asked for at once", async () => {
    const { http, requests } = connect({ key: KEY });
    const both = await Promise.allSettled([http.send(post()), http.send(post())]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(requests).toHaveLength(1);
  });

  test("is none for who may only ask", async () => {
    const { http, requests } = connect({ key: KEY, mayAct: false });
    expect(await endOf(http.send(post()))).toBe("http_refused");
    expect(await endOf(http.send(get("https://api.example.com/")))).toBeUndefined();
    expect(requests.map(({ method }) => method)).toEqual(["GET"]);
  });
});

describe("a request", () => {
  test("sends its body as JSON, follows no redirect and bypasses every cache", async () => {
    const { http, requests } = connect();
    await http.send(post({ name: "Ann" }));
    const [request] = requests;
    expect([request?.method, request?.redirect, request?.cache]).toEqual([
      "POST",
      "manual",
      "no-store",
    ]);
    expect(request?.headers.get("content-type")).toBe("application/json");
    expect(await request?.json()).toEqual({ name: "Ann" });
  });

  test.each<[string, HttpRequest]>([
    ["with a body where there is none", get("https://api.example.com/", { body: {} })],
    ["of a method that is none", post({}, { method: "CONNECT" as never })],
    ["of a method in small letters", post({}, { method: "post" as never })],
    ["with too large a body", post("x".repeat(262_144))],
    ["with too large a header", post({}, { headers: { "x-large": "x".repeat(262_144) } })],
    ["with too long an address", get(`https://api.example.com/${"x".repeat(262_144)}`)],
  ])("%s is refused", async (_name, request) => {
    const { http, requests } = connect();
    expect(await endOf(http.send(request))).toBe("http_refused");
    expect(requests).toEqual([]);
  });
});
