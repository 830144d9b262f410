import { beforeAll, expect, test } from "vitest";
import { createHmacRunIds } from "../../src/adapters/run/hmac-run-ids.ts";
import { randomBytes } from "../../src/adapters/platform/system.ts";
import type { LateTable } from "../../durable-objects/run/run-tables.ts";
import type { ActorId } from "../../src/protocol/identity/ids.ts";
import { releaseUrl, script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { planIncarnation } from "../shared/crash-points.ts";
import { dataUrl, PNG } from "../shared/files.ts";
import { APPROVE, callOf, decide, openOf } from "../shared/people.ts";
import { plant } from "../shared/planted-storage.ts";
import { ringAlarm, rowsOf, transcriptOf, viewerAs } from "../shared/run-object.ts";
import { sampleOfGroups } from "../shared/sample.ts";
import { bindings, seedPolicies, send, stateOf, type Caller } from "../shared/worker.ts";
import { moved } from "../workers/lab-approvals.ts";

beforeAll(seedPolicies);

const MODES = ["before", "after", "durable"] as const;

/** A run that uses a table. */
interface Use {
  readonly caller: Caller;
  /** The body of the request that starts the run. `mark` is unique. */
  readonly request: (mark: string) => object;
  /** What clients and people send before the run can end. */
  readonly meanwhile?: (runId: string, mark: string) => Promise<void>;
  /** How the run stands at its end. Default: completed. */
  readonly status?: string;
  /** What the table of the ended run holds. */
  readonly holds: readonly [sql: string, rows: readonly object[]];
  /** Checks what the run did. */
  readonly effects?: (runId: string, mark: string) => Promise<void>;
}

const says = (...steps: readonly ScriptedStep[]) => [{ role: "user", content: script(...steps) }];
const pay = (mark: string, to = mark) => ({
  messages: says({ calls: [callOf("lab__transfer", { to, amount: 3 })] }, { text: ["done"] }),
});

/** Reads the state of a run whose object may crash meanwhile. */
const look = (runId: string, caller: Caller) => stateOf(runId, caller).catch(() => undefined);

/** A chat that somebody continues, and the turns whose rows its object has. */
const CONTINUED = (table: "turns" | "pages"): Use => ({
  caller: "lab",
  request: () => ({ messages: says({ text: ["hi"] }) }),
  meanwhile: async (runId, mark) => {
    const body = { messages: says({ text: ["more"] }), conversationId: runId };
    await expect.poll(async () => (await look(runId, "lab"))?.status).toBe("completed");
    await startUnderKey(body, "lab", mark);
    await expect.poll(() => rowsOf(runId, "SELECT 1 FROM pages").catch(() => [])).toHaveLength(2);
  },
  holds: [`SELECT number FROM ${table}`, [{ number: 1 }, { number: 2 }]],
});

/** Every table that a run creates at its first use. A table without a run here fails the types. */
const USES: Readonly<Record<LateTable | "log", Use>> = {
  log: {
    caller: "lab",
    request: () => ({ messages: says({ text: ["hi"] }) }),
    holds: ["SELECT seq FROM log WHERE seq < 2", [{ seq: 0 }, { seq: 1 }]],
  },
  prompt: {
    caller: "lab",
    request: () => ({ messages: says({ shows: true }), context: { page: "/orders" } }),
    holds: ["SELECT part FROM prompt", [{ part: "request_context" }]],
    effects: async (runId) => {
      expect(JSON.stringify(await transcriptOf(runId, "lab"))).toContain("/orders");
    },
  },
  files: {
    caller: "lab",
    request: () => ({
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: script({ text: ["Nice."] }) },
            { type: "image", image: dataUrl("image/png", PNG) },
          ],
        },
      ],
      model: "claude-sonnet-5",
    }),
    holds: ["SELECT body FROM files", [{ body: PNG }]],
  },
  results: {
    caller: "lab",
    request: () => ({
      messages: says({ calls: [callOf("lab__copy_out", { lines: 900 })] }, { text: ["done"] }),
    }),
    holds: ["SELECT invocation FROM results", [{ invocation: 1 }]],
  },
  inbox: {
    caller: "lab",
    request: (mark) => ({ messages: says({ text: ["one"], holds: mark }, { text: ["two"] }) }),
    meanwhile: async (runId, mark) => {
      const headers = { "content-type": "application/json", "idempotency-key": mark };
      const body = JSON.stringify({ content: "hurry" });
      const init = { caller: "lab", method: "POST", headers, body } as const;
      const steer = () => send(`/v1/runs/${runId}/messages`, init);
      await expect.poll(async () => (await steer().catch(() => undefined))?.status).toBe(202);
      await fetch(releaseUrl(mark));
    },
    holds: ["SELECT body ->> 'text' AS body FROM inbox", [{ body: "hurry" }]],
    effects: async (runId) => {
      const said = (await transcriptOf(runId, "lab")).filter(({ role }) => role === "user");
      expect(JSON.stringify(said).split("hurry")).toHaveLength(2);
    },
  },
  naming: {
    caller: "lab",
    request: () => ({ messages: says({ text: ["hi"] }) }),
    meanwhile: async (runId) => {
      await expect.poll(async () => (await look(runId, "lab"))?.status).toBe("completed");
      const body = JSON.stringify({ title: "Named" });
      const headers = { "content-type": "application/json" };
      const init = { caller: "lab", method: "PATCH", headers, body } as const;
      const name = () => send(`/v1/conversations/${runId}`, init).catch(() => undefined);
      await expect.poll(async () => (await name())?.status).toBe(200);
    },
    holds: ["SELECT title FROM naming", [{ title: "Named" }]],
  },
  erasure: {
    caller: "lab",
    request: () => ({ messages: says({ text: ["hi"] }) }),
    meanwhile: async (runId) => {
      await expect.poll(async () => (await look(runId, "lab"))?.status).toBe("completed");
      const remove = () => send(`/v1/conversations/${runId}`, { caller: "lab", method: "DELETE" });
      await expect.poll(async () => (await remove().catch(() => undefined))?.status).toBe(200);
    },
    status: "gone",
    holds: ["SELECT tables FROM log WHERE seq = 0", [{ tables: "erasure" }]],
  },
  turns: CONTINUED("turns"),
  pages: CONTINUED("pages"),
  approvals: {
    caller: "ann",
    request: (mark) => pay(mark),
    meanwhile: async (runId) => {
      await expect.poll(async () => (await look(runId, "ann"))?.status).toBe("waiting");
      const [approvalId = "none"] = openOf(await stateOf(runId, "ann"));
      for (const person of ["bob", "cat"] as const) {
        const vote = () => decide(approvalId, person, APPROVE);
        await expect.poll(async () => (await vote().catch(() => undefined))?.status).toBe(200);
      }
    },
    holds: ["SELECT generation FROM approvals", [{ generation: 1 }]],
    effects: async (_, mark) => {
      expect(moved.filter((effect) => effect.includes(mark))).toHaveLength(1);
    },
  },
};

/** Starts a run, and asks again under the same key when the object crashed before it had a run. */
async function startUnderKey(
  body: object,
  caller: Caller,
  key: string = crypto.randomUUID(),
): Promise<string> {
  for (;;) {
    const response = await send("/v1/chat", {
      caller,
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": `"${key}"` },
      body: JSON.stringify(body),
    });
    void response.text().catch(() => {});
    const runId = response.headers.get("x-run-id");
    if (runId !== null) return runId;
    expect(response.status).toBe(500);
  }
}

const ALL_CASES = Object.entries(USES).flatMap(([table, use]) =>
  MODES.map((mode) => ({ table, mode, use })),
);
/** A sample tries each table in one way. */
const CASES = sampleOfGroups(ALL_CASES, ({ table }) => table, MODES.length);

test.each(CASES)(
  "a crash at the first use of the table $table ($mode) loses nothing and repeats nothing",
  async ({ table, mode, use }) => {
    const { caller, request, meanwhile, status = "completed", holds, effects } = use;
    const mark = crypto.randomUUID();
    const incarnation = planIncarnation({ firstUseOf: table, mode });
    const runId = await startUnderKey(request(mark), caller);
    await meanwhile?.(runId, mark);
    await expect
      .poll(async () => {
        await ringAlarm(runId).catch(() => {});
        const state = await send(`/v1/runs/${runId}`, { caller }).catch(() => undefined);
        return state?.status === 410 ? "gone" : (await look(runId, caller))?.status;
      })
      .toBe(status);
    expect(incarnation.hasCrashed).toBe(true);
    const [sql, rows] = holds;
    expect(await rowsOf(runId, sql)).toEqual(rows);
    await effects?.(runId, mark);
  },
);

// The local server of the platform writes a table of its own into each object that it starts.
const FOREIGN = {
  alarm: null,
  ddl: ["CREATE TABLE __miniflare_do_name (id INTEGER PRIMARY KEY, name TEXT)"],
  rows: {},
};

test("an object that ended before its claim, with only a table of the platform, takes the run", async () => {
  const key = crypto.randomUUID();
  const { tenantId } = viewerAs("lab");
  const ids = createHmacRunIds(bindings.RUN_ID_SECRET, randomBytes);
  const runId = await ids.derive({ tenantId, actorId: "user:lab" as ActorId }, key);
  await plant(bindings.RUNS, { ...FOREIGN, name: runId });
  expect((await send(`/v1/runs/${runId}`, { caller: "lab" })).status).toBe(404);
  const response = await send("/v1/chat", {
    caller: "lab",
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": `"${key}"` },
    body: JSON.stringify({ messages: says({ text: ["hi"] }) }),
  });
  expect([response.status, response.headers.get("x-run-id")]).toEqual([200, runId]);
  expect(await response.text()).toContain("hi");
});
