import type { EgressGrant, HttpRequest } from "../../capabilities/http.ts";
import { parseEgressUrl } from "../../protocol/connection/egress-host.ts";
import { joinUpstreamUrl } from "../../protocol/connection/upstream-url.ts";
import { MAX_CONTRACT_BYTES } from "../../protocol/identity/ids.ts";
import { utf8Bytes } from "../../protocol/text/encoding.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { isSteeringHeader } from "../../protocol/connection/steering-header.ts";

/** A request that may leave, in the form of the platform. */
export interface AdmittedRequest {
  readonly url: string;
  readonly init: RequestInit;
  /** The request may change something; it carries the invocation's key. */
  readonly acts: boolean;
}

/** Safe methods (RFC 9110, section 9.2.1), and methods that may change something. */
const READS = /^(?:GET|HEAD)$/;
const WRITES = /^(?:POST|PUT|PATCH|DELETE)$/;

/** The base address of each upstream of the deployment, without a slash at its end. */
export type UpstreamAddresses = ReadonlyMap<string, string>;

/** A grant, and the addresses behind its names. */
export interface AddressedGrant extends EgressGrant {
  readonly addresses: UpstreamAddresses;
}

/**
 * Checks one request against its grant. `hasActed` says whether the grant already sent a request
 * that may change something.
 * Contract: pure. The failure names the broken rule and repeats nothing of the request.
 */
export function admitRequest(
  request: HttpRequest,
  grant: AddressedGrant,
  hasActed: boolean,
): Result<AdmittedRequest, string> {
  const { method, headers = {}, body } = request;
  const url = urlOf(request, grant)?.href;
  if (url === undefined) return fail("the address is not allowed");
  if (!WRITES.test(method) && !(READS.test(method) && body === undefined)) {
    return fail("the method is not allowed");
  }
  const acts = grant.key !== undefined && WRITES.test(method);
  if (acts && !grant.mayAct) return fail("checkState and reconcile may only read");
  if (acts && hasActed) return fail("the tool may send one changing request only");
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
    // Following a redirect would send the credentials and the key to another host.
    redirect: "manual",
    // A cached response for one tenant must never answer a request of another tenant.
    cache: "no-store",
    ...(text !== undefined && { body: text }),
  };
  return ok({ url, init, acts });
}

function urlOf(request: HttpRequest, grant: AddressedGrant): URL | undefined {
  if (request.upstream === undefined) return parseEgressUrl(request.url, grant.hosts);
  const isGranted = request.url === undefined && grant.upstreams.includes(request.upstream);
  const base = isGranted ? grant.addresses.get(request.upstream) : undefined;
  return base === undefined ? undefined : joinUpstreamUrl(base, request);
}

/** Headers that steer a request, but that an author may set. */
const ALLOWED_STEERING =
  /^(?:accept|accept-language|content-language|content-type|if-[a-z-]+|range)$/;
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** Printable ASCII: every parser reads it as one line. */
const VALUE = /^[\x20-\x7e]*$/;

function mayBeSet(name: string, value: string, { keyHeader, mayAuthorise }: EgressGrant): boolean {
  if (name === keyHeader.toLowerCase() || (name === "authorization" && !mayAuthorise)) return false;
  const isFree = !isSteeringHeader(name) || ALLOWED_STEERING.test(name);
  return isFree && NAME.test(name) && VALUE.test(value);
}
