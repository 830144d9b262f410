import * as v from "valibot";
import { expect, test, vi } from "vitest";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import { ok } from "../../src/protocol/outcome/result.ts";
import { person, runTool } from "../../src/testing/index.ts";
import { CONNECTIONS, DESK_POLICY, getTicket, PAID, refund } from "./desk-tools.ts";

const ANN = person("ann", { scopes: ["desk:read", "desk:refund"] });
const TICKET = {
  request: { upstream: "desk", path: ["tickets", 7] },
  response: { body: { id: 7, subject: "Broken" } },
} as const;
const VOTES = [
  { by: "bob", roles: ["lead"] },
  { by: "eve", roles: ["lead"] },
];

test("a call passes the runner and answers the redacted observation", async () => {
  const result = await runTool(getTicket, { id: 7 }, { http: [TICKET] });
  expect(result).toMatchObject({ ok: true, taxonomyClass: "SUCCESS" });
  expect(result.data).toEqual({ id: 7, subject: "Broken" });
  expect(result.run.requests).toMatchObject([
    { method: "GET", url: "https://desk.test/tickets/7" },
  ]);
  expect(result.run.audit.map(({ action }) => action)).toContain("call.ended");
});

test("wrong arguments answer the failure that the model repairs", async () => {
  const result = await runTool(getTicket, { id: 0 });
  expect(result).toMatchObject({ ok: false, taxonomyClass: "OUT_OF_BOUNDS", data: null });
  expect(result.errors).toMatchObject([{ field: "/id" }]);
});

test("a caller without the scope is refused", async () => {
  const result = await runTool(getTicket, { id: 7 }, { principal: person("ann") });
  expect(result.taxonomyClass).toBe("PERMISSION_DENIED");
});

test("a policy that does not name the tool refuses it", async () => {
  const result = await runTool(getTicket, { id: 7 }, { policy: { allowedTools: [] } });
  expect(result.taxonomyClass).toBe("POLICY_VIOLATION");
});

test("a refund runs once, with its key and credentials, when two leads have approved", async () => {
  const { run, ...result } = await runTool(
    refund,
    { ticket: 7, amount: 40 },
    {
      policy: DESK_POLICY,
      principal: ANN,
      connections: CONNECTIONS,
      http: [PAID],
      approvals: VOTES,
    },
  );
  expect(result.data).toEqual({ receipt: "r-7" });
  const [sent, ...others] = run.requests;
  expect(others).toEqual([]);
  expect(sent).toMatchObject({
    body: { amount: 40 },
    headers: {
      authorization: "Bearer secret-token",
      "idempotency-key": result.record.binding?.idempotencyKey,
    },
  });
  expect(JSON.stringify([run.events, run.audit, run.messages])).not.toContain("secret-token");
});

test("a service that is down is asked again under the same key, and no real time passes", async () => {
  const { run, ...result } = await runTool(
    refund,
    { ticket: 7, amount: 40 },
    {
      policy: DESK_POLICY,
      principal: ANN,
      connections: CONNECTIONS,
      http: [
        { ...PAID, response: [{ status: 503, headers: { "retry-after": "5" } }, PAID.response] },
      ],
      approvals: VOTES,
    },
  );
  expect(result.data).toEqual({ receipt: "r-7" });
  const keys = run.requests.map(({ headers }) => headers["idempotency-key"]);
  expect(keys).toEqual([keys[0], keys[0]]);
});

test("a service that never answers ends the call by its own time", async () => {
  const http = (): Promise<Response> => new Promise(() => {});
  const result = await runTool(
    { ...getTicket, runtime: { ...getTicket.runtime, timeoutMs: 500, maxRetries: 0 } },
    { id: 7 },
    { http },
  );
  expect(result.taxonomyClass).toBe("TIMEOUT");
});

test("a test that stops the timers of its platform does not stop a call", async () => {
  vi.useFakeTimers();
  try {
    const http = [{ ...TICKET, response: [{ status: 503 }, TICKET.response] }];
    const result = await runTool(getTicket, { id: 7 }, { http });
    expect(result.ok).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

test("what a tool throws is told to the test and not to the model", async () => {
  const broken = defineTool({
    ...getTicket,
    name: "desk__broken",
    input: v.strictObject({}),
    redaction: { args: [], output: ["id"] },
    execute: () => {
      throw new Error("a bug of the tool");
    },
  });
  const result = await runTool(broken);
  expect(result.taxonomyClass).toBe("UNKNOWN_ERROR");
  expect(JSON.stringify(result.observation)).not.toContain("a bug");
  expect(String(result.run.faults[0]?.thrown)).toContain("a bug of the tool");
});

test("which field of an output does not fit is told to the test and not to the model", async () => {
  const wrong = defineTool({
    name: "desk__list_lines",
    version: "1.0.0",
    description: "Lists lines.",
    input: v.strictObject({}),
    output: v.strictObject({ lines: v.array(v.strictObject({ cents: v.number() })) }),
    sideEffectClass: "READ_ONLY",
    effect: "read_only",
    redaction: { args: [], output: ["lines"] },
    capabilities: [],
    execute: () => ok({ lines: [{ cents: 1 }, { cents: "s3cret" as never }] }),
  });
  const result = await runTool(wrong);
  const mismatch = "/lines/1/cents: expected number, got a string of 6 characters";
  expect(result.detail).toBe(mismatch);
  expect(result.run.faults).toMatchObject([{ code: "output_refused", thrown: mismatch }]);
  expect(result.errors).toMatchObject([{ field: null, code: "invalid_output" }]);
  expect(JSON.stringify([result.run.events, result.run.messages])).not.toContain("/lines");
  expect(JSON.stringify(result.run.audit)).not.toContain("s3cret");
});

test.each([
  [
    "a call that waits",
    () => runTool(refund, { ticket: 7, amount: 40 }, { connections: CONNECTIONS }),
    /desk__refund waits for approvals: 0 of 2 are given/,
  ],
  [
    "an approval that nobody asked for",
    () => runTool(getTicket, { id: 0 }, { approvals: [{ by: "bob" }] }),
    /Nobody is asked for an approval\. The run has ended \(stop\)\. Its calls: desk__get_ticket: OUT_OF_BOUNDS/,
  ],
  [
    "a request without an answer",
    () => runTool(getTicket, { id: 8 }, { http: [TICKET] }),
    /A tool sent GET https:\/\/desk\.test\/tickets\/8, and the test has no answer for it\. It answers GET https:\/\/desk\.test\/tickets\/7/,
  ],
  [
    "a policy that is none",
    () => runTool(getTicket, { id: 7 }, { policy: { allowed: [] } }),
    /The policy is not valid\. .*allowed/,
  ],
  [
    "a connection that is none",
    () =>
      runTool(getTicket, { id: 7 }, { connections: { con_desk: { kind: "bearer", token: "" } } }),
    /The connection con_desk is not valid/,
  ],
  [
    "a time that is none",
    () => runTool(getTicket, { id: 7 }, { now: "noon" }),
    /now is no time: noon/,
  ],
  [
    "a tool that undoes the call and is missing",
    () =>
      runTool({
        ...refund,
        transactional: {
          ...refund.transactional,
          semantics: "compensable_write",
          compensationTool: "desk__undo",
        },
        compensate: () => ({}),
      }),
    /compensationTool desk__undo is not registered/,
  ],
])("the test is told about %s", async (_what, run, message) => {
  await expect(run()).rejects.toThrow(message);
});
