import { describe, expect, test, vi } from "vitest";
import { connect, endOf, get, KEY, post } from "./http-network.ts";

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

  test("that never comes is a failure without the platform's text", async () => {
    const { http } = connect({}, () => Promise.reject(new Error("getaddrinfo api.example.com")));
    expect(await http.send(get("https://api.example.com/"))).toEqual({
      ok: false,
      failure: {
        taxonomyClass: "DEPENDENCY_UNAVAILABLE",
        errors: [
          {
            field: null,
            code: "http_unavailable",
            message: "the service did not send a complete response",
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
