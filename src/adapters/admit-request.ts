import type { EgressGrant, HttpRequest } from "../capabilities/http.ts";
import { parseEgressUrl } from "../protocol/connection/egress-host.ts";
import { MAX_CONTRACT_BYTES } from "../protocol/identity/ids.ts";
import { utf8Bytes } from "../protocol/text/encoding.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import { isSteeringHeader } from "../protocol/connection/steering-header.ts";

/** A request that may leave, as the platform takes it. */
export interface AdmittedRequest {
  readonly url: string;
  readonly init: RequestInit;
  /** May change something under the invocation's key. */
  readonly acts: boolean;
}

/** Methods that change nothing (RFC 9110, section 9.2.1), and those that may. */
const ASKS = /^(?:GET|HEAD)$/;
const ACTS = /^(?:POST|PUT|PATCH|DELETE)$/;

/**
 * Holds one request against its grant, and against what was sent under it before.
 * Contract: pure. The failure says in our words which rule
 * was broken, and nothing of the request.
 */
export function admitRequest(
  { method, url: address, headers = {}, body }: HttpRequest,
  grant: EgressGrant,
  hasActed: boolean,
): Result<AdmittedRequest, string> {
  const url = parseEgressUrl(address, grant.hosts)?.href;
  if (url === undefined) return fail("the address is not allowed");
  if (!ACTS.test(method) && !(ASKS.test(method) && body === undefined)) {
    return fail("the method is not allowed");
  }
  const acts = grant.key !== undefined && ACTS.test(method);
  if (acts && !grant.mayAct) return fail("a check may change nothing");
  if (acts && hasActed) return fail("one key is one effect");
  const sent = new Headers(body === undefined ? {} : { "content-type": "application/json" });
  for (const [name, value] of Object.entries(headers)) {
    if (!mayBeSet(name.toLowerCase(), value, grant)) return fail("a header is not allowed");
    sent.set(name, value);
  }
  const text = body === undefined ? undefined : JSON.stringify(body);
  if (utf8Bytes([url, JSON.stringify(headers), text].join("")) > MAX_CONTRACT_BYTES) {
    return fail("the request is too large");
  }
  if (grant.key !== undefined) sent.set(grant.keyHeader, grant.key);
  const init: RequestInit = {
    method,
    headers: sent,
    // A redirect would take the credentials and the key to another place.
    redirect: "manual",
    // What the platform keeps of one tenant's answer must not answer another's question.
    cache: "no-store",
    ...(text !== undefined && { body: text }),
  };
  return ok({ url, init, acts });
}

/** Headers that steer a request, and are still the author's to choose. */
const OF_AUTHORS = /^(?:accept|accept-language|content-language|content-type|if-[a-z-]+|range)$/;
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** One line, whatever reads it. */
const VALUE = /^[\x20-\x7e]*$/;

function mayBeSet(name: string, value: string, { keyHeader, mayAuthorise }: EgressGrant): boolean {
  if (name === keyHeader.toLowerCase() || (name === "authorization" && !mayAuthorise)) return false;
  const isFree = !isSteeringHeader(name) || OF_AUTHORS.test(name);
  return isFree && NAME.test(name) && VALUE.test(value);
}
