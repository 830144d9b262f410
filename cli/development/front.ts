import { once } from "node:events";
import { readFileSync } from "node:fs";
import {
  createServer,
  request,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { ACTING_HEADER, DEVELOPER_HEADER } from "../../src/protocol/identity/development.ts";
import { isSameOrigin, refuseForeign } from "./admit.ts";
import { RECEIVER_PATH, type NotificationReceiver } from "./notification-receiver.ts";
import { describeUnknown, type DevelopmentPeople } from "./people.ts";

/** Addresses of the development server itself. */
const HOME = "/__development";
const COOKIE = "interlock-acting";
/** Pages that show the switcher. */
const PAGES: ReadonlySet<string> = new Set(["/", "/approvals", "/gameplan", "/runs"]);

interface FrontSettings {
  readonly port: number;
  /** Port of the platform's local server. */
  readonly innerPort: number;
  /** Secret that tells the Worker that a request came through here. */
  readonly secret: string;
  readonly people: DevelopmentPeople;
  readonly receiver: Pick<NotificationReceiver, "receive">;
  /** Why nothing is answered now, such as a refused build; undefined when requests pass. */
  readonly refusal: () => string | undefined;
}

/**
 * Starts the server of `npm run dev` in front of the platform's local server. It says who acts, and
 * adds the switcher to the pages; so nothing of both is in a deployment.
 * Threat: foreign pages, see `refuseForeign`. The headers with which the platform's server lets a
 * client choose another host are removed. Only requests that pass get the secret, so the platform's
 * own port admits nobody as the developer.
 * Fails: rejects when the port is taken.
 */
export async function startFront(settings: FrontSettings): Promise<Server> {
  const server = createServer((incoming, answer) => {
    const foreign = refuseForeign(incoming);
    if (foreign !== undefined) {
      incoming.resume();
      answer.writeHead(403, TEXT_TYPE).end(`${foreign}\n`);
    } else if (refuse(answer, settings)) {
      incoming.resume();
    } else if (incoming.url?.startsWith(`${HOME}/`)) {
      answerHome(incoming, answer, settings).catch(() => answer.destroy());
    } else forward(incoming, answer, settings);
  });
  server.listen(settings.port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/**
 * Answers with the reason when nothing is answered now. The platform's server would let the request
 * wait until a build succeeds.
 */
function refuse(answer: ServerResponse, { refusal }: FrontSettings): boolean {
  const reason = refusal();
  if (reason === undefined) return false;
  answer.writeHead(503, TEXT_TYPE).end(`${reason}\n`);
  return true;
}

async function answerHome(
  incoming: IncomingMessage,
  answer: ServerResponse,
  { people, receiver }: FrontSettings,
): Promise<void> {
  switch (`${incoming.method} ${incoming.url}`) {
    case `GET ${HOME}/switcher.js`: {
      const script = readFileSync(join(import.meta.dirname, "switcher.js"));
      return void answer.writeHead(200, { "content-type": "text/javascript" }).end(script);
    }
    case `GET ${HOME}/people`: {
      const known = { people: [...people.keys()].toSorted(), acting: actingOf(incoming, people) };
      return void answer.writeHead(200, JSON_TYPE).end(JSON.stringify(known));
    }
    case `POST ${HOME}/acting`: {
      const name = await text(incoming);
      if (!isSameOrigin(incoming)) return void answer.writeHead(403).end("Another origin.\n");
      if (!people.has(name)) return refuseUnknown(answer, people, name);
      const cookie = `${COOKIE}=${name}; Path=/; SameSite=Strict; HttpOnly`;
      return void answer.writeHead(204, { "set-cookie": cookie }).end();
    }
    case `POST ${RECEIVER_PATH}`: {
      const isSigned = receiver.receive(incoming.headers, await text(incoming));
      return void answer.writeHead(isSigned ? 204 : 401).end();
    }
    default:
      return void answer.writeHead(404).end("There is nothing at this address.\n");
  }
}

const TEXT_TYPE = { "content-type": "text/plain; charset=utf-8" };
const JSON_TYPE = { "content-type": "application/json" };

function refuseUnknown(answer: ServerResponse, people: DevelopmentPeople, name: string): void {
  answer.writeHead(400).end(`${describeUnknown(people, name)}\n`);
}

/** Reads who acts: the header, else the cookie that the switcher sets, else the first person. */
function actingOf({ headers }: IncomingMessage, people: DevelopmentPeople): string {
  const header = headers[ACTING_HEADER];
  if (typeof header === "string") return header;
  const cookie = new RegExp(`(?:^|; )${COOKIE}=([a-z0-9_-]+)`).exec(headers.cookie ?? "")?.[1];
  const [first = ""] = people.keys();
  // The cookie may be older than the file.
  return cookie !== undefined && people.has(cookie) ? cookie : first;
}

/** A request that waits for its answer looks this often whether a build was refused meanwhile. */
const LOOK_MS = 100;

function forward(incoming: IncomingMessage, answer: ServerResponse, settings: FrontSettings): void {
  const { innerPort, secret, people } = settings;
  const { method, url: path = "/", headers } = incoming;
  const acting = actingOf(incoming, people);
  const person = people.get(acting);
  if (!person) return refuseUnknown(answer, people, acting);
  const isPage = method === "GET" && PAGES.has(path.split("?")[0] ?? "");
  const kept = Object.entries(headers).filter(
    ([name]) => !name.startsWith("mf-") && !(isPage && name === "accept-encoding"),
  );
  const own = { [DEVELOPER_HEADER]: secret, [ACTING_HEADER]: person.actorId };
  const outgoing = request({
    host: "127.0.0.1",
    port: innerPort,
    agent: false,
    method,
    path,
    headers: { ...Object.fromEntries(kept), ...own },
  });
  const handOn = (inner: IncomingMessage): void => {
    clearInterval(looking);
    inner.once("error", () => answer.destroy());
    if (isPage && inner.statusCode === 200) {
      adaptPage(inner, answer).catch(() => answer.destroy());
      return;
    }
    answer.writeHead(inner.statusCode ?? 502, inner.headers).flushHeaders();
    inner.pipe(answer);
  };
  outgoing.once("response", handOn);
  // A build may be refused, or the Worker may end, while the request waits.
  const looking = setInterval(() => {
    if (!refuse(answer, settings)) return;
    clearInterval(looking);
    outgoing.off("response", handOn);
    incoming.unpipe(outgoing).resume();
  }, LOOK_MS);
  // A client sees the same as without this server: a connection that fails or breaks.
  outgoing.once("error", () => answer.destroy());
  answer.once("close", () => {
    clearInterval(looking);
    outgoing.destroy();
  });
  incoming.pipe(outgoing);
}

const SWITCHER = `<script type="module" src="${HOME}/switcher.js"></script>`;

/** Adds the switcher, and tells the chat that it needs no token. */
async function adaptPage(inner: IncomingMessage, answer: ServerResponse): Promise<void> {
  const page = (await text(inner))
    .replace(/<(interlock-chat|interlock-gameplan) /, "<$1 tokenless ")
    .replace("</body>", `${SWITCHER}</body>`);
  const { "transfer-encoding": _chunked, ...headers } = inner.headers;
  const length = String(Buffer.byteLength(page));
  answer.writeHead(200, { ...headers, "content-length": length }).end(page);
}
