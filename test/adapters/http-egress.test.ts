import { describe, expect, test, vi } from "vitest";
import { createHttpEgress } from "../../src/adapters/http-egress.ts";
import type { EgressGrant, HttpClient, HttpRequest } from "../../src/capabilities/http-client.ts";
import { FakeClock } from "../suites/fakes.ts";

const KEY = "key-0123456789";

interface Network {
  readonly http: HttpClient;
  readonly requests: readonly Request[];
}

/** A client over a network in which everything answers the same. */
function connect(
  grant: Partial<EgressGrant> = {},
  answer: (request: Request) => Response | Promise<Response> = () => new Response("fine"),
): Network {
  const requests: Request[] = [];
  const egress = createHttpEgress({
    clock: new FakeClock(),
    async fetch(request) {
      requests.push(request);
      return answer(request);
    },
  });
  const http = egress.bind({
    hosts: ["api.example.com", "port.example.com:8443", "127.0.0.1:8787", "localhost", "[::1]"],
    keyHeader: "Idempotency-Key",
    mayAct: true,
    mayAuthorise: false,
    maxAnswerBytes: 1_000,
    signal: new AbortController().signal,
    ...grant,
  });
  return { http, requests };
}

const get = (url: string, more: Partial<HttpRequest> = {}): HttpRequest => ({
  method: "GET",
  url,
  ...more,
});
const post = (body: HttpRequest["body"] = {}, more: Partial<HttpRequest> = {}): HttpRequest => ({
  method: "POST",
  url: "https://api.example.com/things",
  body,
  ...more,
});

async function endOf(sent: ReturnType<HttpClient["send"]>): Promise<string | undefined> {
  const result = await sent;
  return result.ok ? undefined : result.failure.errors[0]?.code;
}

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
  test("says its body as JSON, follows no redirect and passes every cache", async () => {
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

describe("an answer", () => {
  const answered = async (response: Response, request = get("https://api.example.com/")) =>
    connect({}, () => response).http.send(request);

  test("of any status is an answer, with the headers that are safe", async () => {
    const headers = {
      "content-type": "application/problem+json; charset=utf-8",
      etag: '"7"',
      "set-cookie": "session=secret",
      "www-authenticate": "Bearer",
      "retry-after": "2",
    };
    const body = '{"detail":"down"}';
    expect(await answered(new Response(body, { status: 503, headers }))).toEqual({
      ok: true,
      value: {
        status: 503,
        headers: { "content-type": headers["content-type"], etag: '"7"' },
        text: body,
        json: { detail: "down" },
        retryAfterMs: 2_000,
      },
    });
  });

  test("that leads elsewhere is not followed", async () => {
    const headers = { location: "https://evil.test/" };
    const { http, requests } = connect({ key: KEY }, () =>
      Promise.resolve(new Response(null, { status: 307, headers })),
    );
    expect(await http.send(post())).toMatchObject({ ok: true, value: { status: 307, headers } });
    expect(requests).toHaveLength(1);
  });

  test.each([
    ["is not called JSON", "text/plain", "{}"],
    ["is broken", "application/json", "{"],
    ["nests without end", "application/json", "[".repeat(400) + "]".repeat(400)],
    ["would change prototypes", "application/json", '{"a":[{"__proto__":{"admin":true}}]}'],
  ])("has no json when its body %s", async (_name, type, body) => {
    const sent = await answered(new Response(body, { headers: { "content-type": type } }));
    expect(sent).toMatchObject({ ok: true, value: { text: body } });
    expect(sent.ok && "json" in sent.value).toBe(false);
  });

  test("is read as UTF-8 across its pieces", async () => {
    const bytes = new TextEncoder().encode("\u{1f600}");
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    expect(await answered(new Response(body))).toMatchObject({ value: { text: "\u{1f600}" } });
  });

  test("of exactly the limit is taken, and one byte more is not", async () => {
    expect(await answered(new Response("x".repeat(1_000)))).toMatchObject({ ok: true });
    expect(await answered(new Response("x".repeat(1_001)))).toMatchObject({
      failure: { taxonomyClass: "OBSERVATION_NORMALIZATION_FAIL" },
    });
  });

  test("without end is cut off and let go", async () => {
    let pulls = 0;
    const cancelled = vi.fn<() => void>();
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulls++;
        controller.enqueue(new Uint8Array(100));
      },
      cancel: cancelled,
    });
    const { http } = connect({}, () => new Response(body));
    expect(await endOf(http.send(get("https://api.example.com/")))).toBe("http_unreadable");
    await vi.waitFor(() => expect(cancelled).toHaveBeenCalledOnce());
    expect(pulls).toBeLessThan(20);
  });

  test("that breaks off is none", async () => {
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(new Error("secret of the other side"));
      },
    });
    const sent = await answered(new Response(body));
    expect(sent).toMatchObject({ failure: { taxonomyClass: "DEPENDENCY_UNAVAILABLE" } });
    expect(JSON.stringify(sent)).not.toContain("secret");
  });

  test("that never comes is a failure without a word of the platform's", async () => {
    const { http } = connect({}, () => Promise.reject(new Error("getaddrinfo api.example.com")));
    expect(await http.send(get("https://api.example.com/"))).toEqual({
      ok: false,
      failure: {
        taxonomyClass: "DEPENDENCY_UNAVAILABLE",
        errors: [
          {
            field: null,
            code: "http_unavailable",
            message: "the service did not answer in full",
          },
        ],
      },
    });
  });
});

describe("when the invocation ends", () => {
  test("a request without an answer is broken off", async () => {
    const abort = new AbortController();
    const { http, requests } = connect({ signal: abort.signal }, () => new Promise(() => {}));
    const sent = endOf(http.send(get("https://api.example.com/")));
    await vi.waitFor(() => expect(requests).toHaveLength(1));
    abort.abort();
    expect(await sent).toBe("http_unavailable");
    expect(requests[0]?.signal.aborted).toBe(true);
  });

  test("an answer that never ends is let go", async () => {
    const abort = new AbortController();
    const cancelled = vi.fn<() => void>();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(1)),
      cancel: cancelled,
    });
    const { http, requests } = connect({ signal: abort.signal }, () => new Response(body));
    const sent = endOf(http.send(get("https://api.example.com/")));
    await vi.waitFor(() => expect(requests).toHaveLength(1));
    abort.abort();
    expect(await sent).toBe("http_unavailable");
    await vi.waitFor(() => expect(cancelled).toHaveBeenCalled());
  });

  test("nothing more is sent", async () => {
    const { http, requests } = connect({ signal: AbortSignal.abort() });
    expect(await endOf(http.send(get("https://api.example.com/")))).toBe("http_unavailable");
    expect(requests).toEqual([]);
  });
});
