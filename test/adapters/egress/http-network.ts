import { createHttpEgress } from "../../../src/adapters/egress/http-egress.ts";
import type { EgressGrant, HttpClient, HttpRequest } from "../../../src/capabilities/http.ts";
import { FakeClock } from "../../../src/testing/time/fake-clock.ts";

export const KEY = "key-0123456789";

interface Network {
  readonly http: HttpClient;
  readonly requests: readonly Request[];
}

/** A client over a network in which everything answers the same. */
export function connect(
  grant: Partial<EgressGrant> = {},
  answer: (request: Request) => Response | Promise<Response> = () => new Response("fine"),
): Network {
  const requests: Request[] = [];
  const egress = createHttpEgress({
    clock: new FakeClock(),
    addresses: new Map([
      ["desk", "https://desk.example.com/api/v2"],
      ["other", "https://other.example.com"],
    ]),
    async fetch(request) {
      requests.push(request);
      return answer(request);
    },
  });
  const http = egress.bind({
    hosts: ["api.example.com", "port.example.com:8443", "127.0.0.1:8787", "localhost", "[::1]"],
    upstreams: ["desk"],
    keyHeader: "Idempotency-Key",
    mayAct: true,
    mayAuthorise: false,
    maxAnswerBytes: 1_000,
    signal: new AbortController().signal,
    ...grant,
  });
  return { http, requests };
}

type Message = Partial<Pick<HttpRequest, "method" | "headers" | "body">>;

export const get = (url: string, more: Message = {}): HttpRequest => ({
  method: "GET",
  url,
  ...more,
});
export const post = (body: HttpRequest["body"] = {}, more: Message = {}): HttpRequest => ({
  method: "POST",
  url: "https://api.example.com/things",
  body,
  ...more,
});

/** The code that a request failed with. */
export async function endOf(sent: ReturnType<HttpClient["send"]>): Promise<string | undefined> {
  const result = await sent;
  return result.ok ? undefined : result.failure.errors[0]?.code;
}
