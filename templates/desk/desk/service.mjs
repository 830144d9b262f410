import { createServer } from "node:http";
import { json } from "node:stream/consumers";

/**
 * The desk that the tools call in development: tickets in memory, on loopback. A repeated request
 * under one Idempotency-Key gets the first answer again, as a real desk has to do it.
 */
const PORT = Number(process.env["DESK_PORT"] ?? 8790);
const tickets = [
  { id: "T-1", subject: "My order is late", status: "open", assignee: null },
  { id: "T-2", subject: "Wrong colour", status: "open", assignee: null },
];
const refunds = [];
const answered = new Map();

const server = createServer((request, response) => {
  answer(request)
    .catch((error) => [500, { message: String(error) }])
    .then(([status, body]) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
});
server.once("error", ({ code, message }) => {
  const advice = `Start with DESK_PORT=${PORT + 1}, and put DESK_URL=http://127.0.0.1:${PORT + 1} into .dev.vars.`;
  console.error(code === "EADDRINUSE" ? `Port ${PORT} is in use. ${advice}` : message);
  process.exitCode = 1;
});
server.listen(PORT, "127.0.0.1", () => console.log(`The desk is at http://127.0.0.1:${PORT}`));

async function answer(request) {
  const key = request.headers["idempotency-key"];
  const known = key && answered.get(key);
  if (known) return known;
  const body = request.method === "GET" ? undefined : await json(request);
  const made = change(`${request.method} ${request.url}`, body);
  if (key && made[0] < 500) answered.set(key, made);
  return made;
}

function change(line, body) {
  const listed = /^GET \/tickets\?status=(open|closed)$/.exec(line);
  if (listed) return [200, { tickets: tickets.filter(({ status }) => status === listed[1]) }];
  if (line === "GET /refunds") return [200, refunds];
  const [, receipt] = /^GET \/refunds\/R-(\d+)$/.exec(line) ?? [];
  if (receipt) {
    const refund = refunds[Number(receipt) - 1];
    return refund ? [200, refund] : [404, { message: "There is no such refund." }];
  }
  if (line === "POST /tickets") {
    const subject = String(body.subject);
    const made = { id: `T-${tickets.length + 1}`, subject, status: "open", assignee: null };
    tickets.push(made);
    return [201, made];
  }
  const [, id, what] = /^(?:PUT|POST) \/tickets\/(T-\d+)\/(assignee|refunds)$/.exec(line) ?? [];
  const ticket = tickets.find((known) => known.id === id);
  if (!ticket) return [404, { message: "There is no such ticket." }];
  if (what === "assignee") return [200, Object.assign(ticket, { assignee: body.assignee })];
  refunds.push({ id, amount: body.amount });
  return [201, { receipt: `R-${refunds.length}` }];
}
