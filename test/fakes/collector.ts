/** A collector of spans, as the deployment of the laboratory names it. */
export const COLLECTOR = "https://collector.test";

/** The status that the collector answers. 0: it never answers. */
export type Status = 0 | 200 | 307 | 400 | 503;

/** One received request of spans. */
export interface ReceivedSpans {
  readonly path: string;
  readonly authorization: string | null;
  readonly type: string | null;
  readonly text: string;
}

/** A request of the Worker to another service that names a trace. */
export interface TracedRequest {
  readonly host: string;
  readonly traceparent: string;
  readonly tracestate: string | null;
}

interface Desk {
  status: Status;
  readonly received: ReceivedSpans[];
  readonly traced: TracedRequest[];
}
/** Test files run at the same time, each in one workerd. */
const deskByWorkerd = new WeakMap<object, Desk>();

/**
 * Answers a workerd for the collector, and notes every request that names a trace. Undefined for
 * other hosts. `GET` returns what came and forgets it, and `PUT` sets what it answers.
 */
export async function answerAsCollector(
  request: Request,
  workerd: object,
): Promise<Response | undefined> {
  const desk: Desk = deskByWorkerd.get(workerd) ?? { status: 200, received: [], traced: [] };
  deskByWorkerd.set(workerd, desk);
  const { host, origin, pathname: path } = new URL(request.url);
  const [traceparent, tracestate] = ["traceparent", "tracestate"].map((name) =>
    request.headers.get(name),
  );
  if (traceparent) desk.traced.push({ host, traceparent, tracestate: tracestate ?? null });
  if (origin !== COLLECTOR) return undefined;
  if (request.method === "GET") {
    return Response.json({ received: desk.received.splice(0), traced: desk.traced.splice(0) });
  }
  if (request.method === "PUT") {
    desk.status = Number(await request.text()) as Status;
    return new Response(null, { status: 204 });
  }
  const [authorization = null, type = null] = ["authorization", "content-type"].map((name) =>
    request.headers.get(name),
  );
  desk.received.push({ path, authorization, type, text: await request.text() });
  if (desk.status === 0) return new Promise(() => {});
  if (desk.status === 307) return Response.redirect("https://hooks.test/spans", 307);
  return new Response("{}", { status: desk.status });
}
