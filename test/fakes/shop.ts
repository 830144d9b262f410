/** A shop for the laboratory's tools, and a host that no tool may reach. */
export const SHOP = "https://shop.test";
export const ELSEWHERE = "https://evil.test";

/** One received request. */
export interface Visit {
  readonly host: string;
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
  /** Absent without credentials. */
  readonly authorization?: string;
}

interface Books {
  readonly visits: Visit[];
  /** Orders by idempotency key. */
  readonly orders: Map<string, string>;
}
/** Test files run at the same time, each in one workerd. */
const booksByWorkerd = new WeakMap<object, Books>();

/**
 * Answers a workerd for every host of the laboratory. Undefined for other hosts. The shop makes one
 * order per key, and its first answer to a key is 503; the next answer returns the order.
 * `GET /visits` on any host returns the received requests and clears them.
 */
export function answerAsShop(request: Request, workerd: object): Response | undefined {
  const { origin, host, pathname: path, search } = new URL(request.url);
  if (origin !== SHOP && host !== new URL(ELSEWHERE).host) return undefined;
  const books: Books = booksByWorkerd.get(workerd) ?? { visits: [], orders: new Map() };
  booksByWorkerd.set(workerd, books);
  const { visits, orders } = books;
  if (path === "/visits") return Response.json(visits.splice(0));
  const key = request.headers.get("idempotency-key");
  const authorization = request.headers.get("authorization");
  const credentials = authorization === null ? {} : { authorization };
  visits.push({ ...credentials, host, method: request.method, path: `${path}${search}`, key });
  if (path === "/moved") return Response.redirect(`${ELSEWHERE}/`, 307);
  if (path !== "/orders" || key === null) return new Response("A page.");
  const known = orders.get(key);
  orders.set(key, known ?? `order_${orders.size}`);
  return known === undefined
    ? new Response(null, { status: 503 })
    : Response.json({ order: known }, { status: 201 });
}
