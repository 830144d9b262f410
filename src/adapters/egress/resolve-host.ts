import * as v from "valibot";
import type { Egress } from "../../capabilities/http.ts";
import { isPublicIp } from "../../protocol/connection/public-address.ts";
import { parseJsonAs } from "../../protocol/json/parse-as.ts";

/** The platform resolves no names for a Worker, so a resolver is asked over HTTPS (RFC 8484). */
const RESOLVER = "cloudflare-dns.com";
/** Types of records (RFC 1035, RFC 3596). */
const RECORDS = { A: 1, AAAA: 28 } as const;
const MAX_ANSWER_BYTES = 64 * 1024;

/** Where a name leads: to public addresses alone, to at least one other one, or nowhere. */
export type Resolved = "public" | "not_public" | "unknown";

/**
 * Resolves the name of a host.
 * Threat: a tenant names a host of its own, whose address is one of the deployment's network.
 * Limit: the name may lead elsewhere when the request leaves. Cloudflare's own network sends no
 * request of a Worker to a private address.
 * Contract: never throws; an answer that is missing or unreadable is `unknown`.
 */
export async function resolveHost(
  egress: Egress,
  host: string,
  signal: AbortSignal,
): Promise<Resolved> {
  const found = await Promise.all(
    (["A", "AAAA"] as const).map((type) => addressesOf(egress, { host, type, signal })),
  );
  const addresses = found.flatMap((list) => list ?? []);
  if (found.includes(undefined) || addresses.length === 0) return "unknown";
  return addresses.every(isPublicIp) ? "public" : "not_public";
}

/** Asks for the records of one type; undefined without a readable answer. */
async function addressesOf(
  egress: Egress,
  { host, type, signal }: { host: string; type: keyof typeof RECORDS; signal: AbortSignal },
): Promise<readonly string[] | undefined> {
  const client = egress.bind({
    hosts: [RESOLVER],
    upstreams: [],
    keyHeader: "",
    mayAct: false,
    mayAuthorise: false,
    maxAnswerBytes: MAX_ANSWER_BYTES,
    signal,
  });
  const url = `https://${RESOLVER}/dns-query?name=${encodeURIComponent(host)}&type=${type}`;
  const headers = { accept: "application/dns-json" };
  const answer = await client.send({ method: "GET", url, headers });
  return answer.ok ? readAnswer(answer.value.text, RECORDS[type]) : undefined;
}

const dnsAnswer = v.object({
  /** 0: there is the name. 3: there is none. */
  Status: v.picklist([0, 3]),
  Answer: v.optional(v.array(v.object({ type: v.number(), data: v.string() })), []),
});

/** Reads the addresses of an answer. A name may lead to them over other names. */
function readAnswer(text: string, type: number): readonly string[] | undefined {
  const records = parseJsonAs(dnsAnswer, text)?.Answer;
  return records?.flatMap((record) => (record.type === type ? [record.data] : []));
}
