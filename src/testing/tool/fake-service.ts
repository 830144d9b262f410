import type { JsonValue } from "../../protocol/json/value.ts";
import {
  isSampleOf,
  toResponse,
  urlOf,
  type SampleRequest,
  type SampleResponse,
} from "./exchange.ts";

/** A service as a function, in place of the network. */
export type FakeService = (request: Request) => Response | Promise<Response>;

/** A request, and what the service answers to it; see docs/contracts.md, "Sample exchanges". */
export interface Exchange {
  readonly request: SampleRequest;
  /** A list is answered in its order; its last entry repeats. */
  readonly response: SampleResponse | readonly SampleResponse[];
}

/** A request that a tool sent. */
export interface SentRequest {
  readonly method: string;
  readonly url: string;
  /** Names in lower case. The secret of a connection is among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON, or the text where it is no JSON; undefined without a body. */
  readonly body: JsonValue | undefined;
}

/** Stands for the network of a test, and records what tools send. */
export class FakeNetwork {
  readonly requests: SentRequest[] = [];
  readonly #service: FakeService | readonly Exchange[];
  readonly #answered = new Map<Exchange, number>();
  #fault: Error | undefined;

  constructor(service: FakeService | readonly Exchange[] = []) {
    this.#service = service;
  }

  /** The first request that the test has no answer for; undefined without one. */
  get fault(): Error | undefined {
    return this.#fault;
  }

  async answer(request: Request): Promise<Response> {
    const sent = await readRequest(request.clone());
    this.requests.push(sent);
    if (typeof this.#service === "function") return this.#service(request);
    const exchange = this.#service.find((candidate) => isSampleOf(candidate.request, sent));
    if (!exchange) {
      const has = this.#service.map(
        (known) => `${known.request.method ?? "GET"} ${urlOf(known.request)}`,
      );
      this.#fault ??= new Error(
        `A tool sent ${sent.method} ${sent.url}, and the test has no answer for it. ` +
          `${has.length > 0 ? `It answers ${has.join(", ")}.` : "It has no exchanges."} ` +
          "Add an exchange, or give a function as http.",
      );
      throw this.#fault;
    }
    return toResponse(this.#next(exchange));
  }

  #next(exchange: Exchange): SampleResponse {
    const { response } = exchange;
    const count = this.#answered.get(exchange) ?? 0;
    this.#answered.set(exchange, count + 1);
    if (!Array.isArray(response)) return response as SampleResponse;
    const responses = response as readonly SampleResponse[];
    return responses[Math.min(count, responses.length - 1)] ?? {};
  }
}

async function readRequest(request: Request): Promise<SentRequest> {
  const { method, url } = request;
  const text = await request.text();
  const headers = Object.fromEntries(request.headers);
  return { method, url, headers, body: text === "" ? undefined : readBody(text) };
}

function readBody(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
