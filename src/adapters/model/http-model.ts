import type { Clock } from "../../capabilities/system.ts";
import type { Model, ModelRequest } from "../../capabilities/model.ts";
import type { ModelEvent, ModelFailure } from "../../protocol/model/event.ts";
import {
  AnswerDecoder,
  DEFAULT_DECODER_LIMITS,
  type DecoderLimits,
} from "../../wire/model/answer-decoder.ts";
import { type BodyKind, bodyKind } from "../../wire/model/body-kind.ts";
import type { DeclaredModel } from "../../protocol/model/declaration.ts";
import { stringifyBody } from "../../wire/model/encoded-once.ts";
import type { ModelWire } from "../../wire/model/model-wire.ts";
import { fitRequest } from "./fit-request.ts";
import { createKeyMask, type MaskKey } from "./mask-key.ts";
import { type Fetch, HttpExchange } from "../egress/http-exchange.ts";
import { parseRetryAfter } from "../egress/retry-after.ts";
import { systemClock } from "../platform/system.ts";

export interface HttpModelOptions {
  readonly model: DeclaredModel;
  readonly wire: ModelWire;
  /** Base address such as `https://host/v1`; requests go to the wire's path under it. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly fetch: Fetch;
  /** Longest silence of the provider between the request and the last byte. Default: 60,000. */
  readonly idleTimeoutMs?: number;
  readonly limits?: Partial<HttpModelLimits>;
  readonly clock?: Clock;
}

/** Limits of one answer. */
export interface HttpModelLimits extends DecoderLimits {
  readonly maxBodyBytes: number;
}

const DEFAULT_IDLE_TIMEOUT_MS = 60_000;
/** Far above the text limit, because each delta has some hundred bytes of envelope. */
const DEFAULT_MAX_BODY_BYTES = 256 * 1024 * 1024;
/**
 * Part of an error body that is searched for the API key. Less than half of it is kept, so a key
 * that is cut at the end of the searched part is never shown.
 */
const MAX_ERROR_BODY_CHARS = 8_192;

/**
 * Builds a Model that calls a provider over HTTP, streaming, on any wire.
 * Contract: that of Model. Redirects are not followed, so the API key reaches no other host. The
 * key appears in no event. Tolerates what docs/providers.md lists.
 * Fails: in the answer, with every code of ModelFailure.
 */
export function createHttpModel(options: HttpModelOptions): Model {
  const maskKey = createKeyMask(options.apiKey);
  const url = endpointUrl(options.baseUrl, options.wire.path);
  return {
    stream: (request, signal) =>
      streamAnswer({ ...options, url, mask: maskKey() }, request, signal),
  };
}

async function* streamAnswer(
  options: HttpModelOptions & { readonly url: string; readonly mask: MaskKey },
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelEvent[], void, undefined> {
  const { model, wire, apiKey, mask } = options;
  const fitted = fitRequest(request, model);
  const { body: content, restoreArguments } = wire.encodeRequest(fitted, model.can);
  const limits = readLimits(options.limits);
  const toolNames = fitted.tools.map(({ name }) => name);
  const author = { wire: wire.id, model: fitted.author };
  const decoder = new AnswerDecoder(wire.createDecoder(), {
    limits,
    author,
    toolNames,
    restoreArguments,
    summaries: fitted.summaries,
  });
  const { fetch, clock = systemClock, idleTimeoutMs = DEFAULT_IDLE_TIMEOUT_MS } = options;
  const exchange = new HttpExchange({ fetch, clock, idleTimeoutMs, signal });
  try {
    const opened = await exchange.open(options.url, {
      method: "POST",
      redirect: "manual",
      headers: {
        ...wire.headers(apiKey),
        ...(request.traceparent && { traceparent: await request.traceparent }),
        "content-type": "application/json",
        accept: "text/event-stream, application/json",
      },
      body: stringifyBody(content),
    });
    if (!opened.ok) return yield mask(decoder.fail(opened.failure));
    if (!opened.value.ok) {
      return yield mask(decoder.fail(await readStatusFailure(opened.value, exchange, clock)));
    }
    const body = new AnswerBody(decoder, limits, opened.value.headers.get("content-type"));
    while (!decoder.finished) {
      const read = await exchange.read();
      const batch = read.ok ? body.take(read.value) : decoder.fail(read.failure);
      const shown = mask(batch);
      if (shown.length > 0) yield shown;
    }
  } finally {
    if (decoder.succeeded) exchange.finish();
    else exchange.close();
  }
}

function readLimits(limits: Partial<HttpModelLimits> | undefined): HttpModelLimits {
  return { ...DEFAULT_DECODER_LIMITS, maxBodyBytes: DEFAULT_MAX_BODY_BYTES, ...limits };
}

/** Builds the address of the endpoint; "" when `baseUrl` is no HTTP address. */
function endpointUrl(baseUrl: string, path: string): string {
  if (!URL.canParse(baseUrl)) return "";
  const url = new URL(baseUrl);
  if (url.protocol !== "http:" && url.protocol !== "https:") return "";
  url.pathname = `${url.pathname.replace(/\/+$/, "")}${path}`;
  return url.href;
}

/** Decodes the bytes of an answer, once its first characters have decided the format. */
class AnswerBody {
  readonly #decoder: AnswerDecoder;
  readonly #limits: HttpModelLimits;
  readonly #contentType: string | null;
  readonly #utf8 = new TextDecoder();
  #kind: BodyKind | undefined;
  #head = "";
  #document: string[] = [];
  #documentChars = 0;
  #bytes = 0;

  constructor(decoder: AnswerDecoder, limits: HttpModelLimits, contentType: string | null) {
    this.#decoder = decoder;
    this.#limits = limits;
    this.#contentType = contentType;
  }

  /** Decodes one network read; undefined means the end of the body. */
  take(bytes: Uint8Array | undefined): readonly ModelEvent[] {
    this.#bytes += bytes?.byteLength ?? 0;
    if (this.#bytes > this.#limits.maxBodyBytes) return this.#tooLarge();
    const text = bytes ? this.#utf8.decode(bytes, { stream: true }) : this.#utf8.decode();
    const ended = bytes === undefined;
    if (this.#kind !== undefined) return this.#pass(text, ended);
    this.#head += text;
    this.#kind = bodyKind(this.#head, this.#contentType, ended);
    return this.#kind === undefined ? [] : this.#pass(this.#head, ended);
  }

  #pass(text: string, ended: boolean): readonly ModelEvent[] {
    switch (this.#kind) {
      case "events": {
        const batch = this.#decoder.feed(text);
        return ended ? [...batch, ...this.#decoder.end()] : batch;
      }
      case "json":
        return this.#collect(text, ended);
      case "other":
      case undefined:
        return this.#decoder.fail({
          code: "upstream_not_a_stream",
          detail: `content-type ${this.#contentType}: ${text.slice(0, MAX_ERROR_BODY_CHARS)}`,
        });
    }
  }

  #collect(text: string, ended: boolean): readonly ModelEvent[] {
    this.#documentChars += text.length;
    if (this.#documentChars > this.#limits.maxFrameChars) return this.#tooLarge();
    this.#document.push(text);
    return ended ? this.#decoder.feedAnswer(this.#document.join("")) : [];
  }

  #tooLarge(): readonly ModelEvent[] {
    return this.#decoder.fail({ code: "upstream_too_large", detail: "the body passed its limit" });
  }
}

async function readStatusFailure(
  response: Response,
  exchange: HttpExchange,
  clock: Clock,
): Promise<ModelFailure> {
  const utf8 = new TextDecoder();
  let detail = "";
  while (detail.length < MAX_ERROR_BODY_CHARS) {
    const read = await exchange.read();
    if (!read.ok && read.failure.code === "aborted") return read.failure;
    if (!read.ok || !read.value) break;
    detail += utf8.decode(read.value, { stream: true });
  }
  const retryAfterSeconds = parseRetryAfter(response.headers.get("retry-after"), clock);
  return {
    code: "upstream_status",
    status: response.status,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    detail,
  };
}
