/** A receiver of webhooks, as the name of a public address. */
export const RECEIVER = "https://hooks.test";
/** The key of the receiver: `receiver` four times, in base64. */
export const RECEIVER_SECRET = `whsec_${btoa("receiver".repeat(4))}`;

/** Where each name leads. A name that is missing leads nowhere. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "hooks.test": ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"],
  "inside.test": ["10.0.0.7"],
  "inside6.test": ["fd00::7"],
  "metadata.test": ["169.254.169.254"],
  "mixed.test": ["93.184.215.14", "192.168.1.1"],
};
const TYPES: Readonly<Record<string, number>> = { A: 1, AAAA: 28 };

/** One received webhook. */
export interface ReceivedWebhook {
  readonly host: string;
  readonly path: string;
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly text: string;
}

interface Desk {
  readonly received: ReceivedWebhook[];
  /** The answer of a path; 204 for any other one. */
  readonly statuses: Map<string, number>;
}
/** Test files run at the same time, each in one workerd. */
const deskByWorkerd = new WeakMap<object, Desk>();

/**
 * Answers a workerd for every name above, and resolves them. Undefined for other hosts. On the
 * receiver, `GET` returns what the path received, and `PUT` with a number sets what it answers.
 */
export async function answerAsReceiver(
  request: Request,
  workerd: object,
): Promise<Response | undefined> {
  const { host, pathname: path, searchParams } = new URL(request.url);
  if (host === "cloudflare-dns.com") return resolve(searchParams);
  if (!(host in NAMES)) return undefined;
  const desk: Desk = deskByWorkerd.get(workerd) ?? { received: [], statuses: new Map() };
  deskByWorkerd.set(workerd, desk);
  if (request.method === "GET") return Response.json(desk.received.filter(isOf(path)));
  if (request.method === "PUT") {
    desk.statuses.set(path, Number(await request.text()));
    return new Response(null, { status: 204 });
  }
  const read = (name: string): string => request.headers.get(`webhook-${name}`) ?? "";
  const signed = { id: read("id"), timestamp: read("timestamp"), signature: read("signature") };
  desk.received.push({ host, path, ...signed, text: await request.text() });
  const status = desk.statuses.get(path) ?? 204;
  const headers = status === 307 ? { location: "https://inside.test/moved" } : {};
  return new Response(null, { status, headers });
}

function isOf(path: string): (one: ReceivedWebhook) => boolean {
  return (one) => path === "/" || one.path === path;
}

function resolve(asked: URLSearchParams): Response {
  const name = asked.get("name") ?? "";
  const type = asked.get("type") ?? "";
  const found = (NAMES[name] ?? []).filter(
    (address) => address.includes(":") === (type === "AAAA"),
  );
  const Answer = found.map((data) => ({ name, type: TYPES[type], TTL: 60, data }));
  const body = JSON.stringify({ Status: name in NAMES ? 0 : 3, Answer });
  return new Response(body, { headers: { "content-type": "application/dns-json" } });
}
