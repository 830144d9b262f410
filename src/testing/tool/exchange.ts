import type { UpstreamTarget } from "../../protocol/connection/upstream-url.ts";
import { toCanonicalJson } from "../../protocol/json/canonical-hash.ts";
import { isJsonObject, type JsonValue } from "../../protocol/json/value.ts";

/** Stands for one name of a path, or for any value of a body. */
const ANY = "*";

/** A request to an upstream, as tools name it, or to an address. Its query is not compared. */
export type SampleRequest = {
  /** Default: GET. */
  readonly method?: string | undefined;
  /** Compares only the fields that it has. `"*"` stands for any value. */
  readonly body?: JsonValue | undefined;
} & (
  | {
      readonly upstream: string;
      /** `"*"` stands for one name. */
      readonly path: UpstreamTarget["path"];
    }
  | { readonly url: string }
);

/** What a service answers. Default: status 200 and no body. */
export interface SampleResponse {
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent as JSON. */
  readonly body?: JsonValue | undefined;
}

/** A request that a sample is compared with. */
export interface ComparedRequest {
  readonly method: string;
  readonly url: string;
  readonly body: JsonValue | undefined;
}

/** Tells whether a sample stands for a request. Contract: pure. */
export function isSampleOf(sample: SampleRequest, sent: ComparedRequest): boolean {
  const [wanted, got] = [new URL(urlOf(sample)), new URL(sent.url)];
  if ((sample.method ?? "GET") !== sent.method || wanted.origin !== got.origin) return false;
  const names = wanted.pathname.split("/");
  const sentNames = got.pathname.split("/");
  return (
    names.length === sentNames.length &&
    names.every((name, index) => name === ANY || name === sentNames[index]) &&
    (sample.body === undefined || contains(sent.body, sample.body))
  );
}

/** The address of a sample, with `*` where it stands for one name. */
export function urlOf(sample: SampleRequest): string {
  if ("url" in sample) return sample.url;
  return [testAddressOf(sample.upstream), ...sample.path.map(encodeURIComponent)].join("/");
}

/** The address of an upstream in every test. */
export function testAddressOf(upstream: string): string {
  return `https://${upstream}.test`;
}

/** Tells whether a body has every field of a sample. */
function contains(body: JsonValue | undefined, sample: JsonValue): boolean {
  if (body === undefined) return false;
  if (sample === ANY) return true;
  if (isJsonObject(sample) && isJsonObject(body)) {
    return Object.entries(sample).every(([name, value]) => contains(body[name], value));
  }
  return toCanonicalJson(body) === toCanonicalJson(sample);
}

export function toResponse({ status = 200, headers = {}, body }: SampleResponse): Response {
  if (body === undefined) return new Response(null, { status, headers });
  return Response.json(body, { status, headers });
}
