import { runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { RunDirectory } from "../../durable-objects/tenant/records/run-directory.ts";
import type { RunQuery } from "../../src/capabilities/tenant.ts";
import type { ListPosition } from "../../src/protocol/list/page.ts";
import type { RunSummary } from "../../src/protocol/run/summary.ts";
import { countRows } from "../shared/counted-sql.ts";
import { refusalOf } from "../shared/run-object.ts";
import { isoAt, runNotice, tenantOf } from "../shared/tenant-notices.ts";
import { chat, runIdOf, seedPolicies, send, type Caller } from "../shared/worker.ts";

beforeAll(seedPolicies);

interface Page {
  readonly runs: readonly RunSummary[];
  readonly next?: string;
}

const ask = (query: string, caller: Caller = "archive"): Promise<Response> =>
  send(`/v1/runs${query}`, { caller });
async function list(query = "", caller: Caller = "archive"): Promise<Page> {
  const response = await ask(query, caller);
  if (response.status !== 200) throw new Error(await response.text());
  return response.json<Page>();
}
const idsOf = ({ runs }: Page): readonly string[] => runs.map(({ runId }) => runId);

/** A run as it reports itself; a later number starts later. */
const summaryOf = (number: number): RunSummary => ({
  runId: `run_${number}` as never,
  status: "completed",
  model: "scripted",
  actorId: "user:mira" as never,
  steps: 1,
  toolCalls: 1,
  createdAt: new Date(number * 1_000).toISOString(),
});

const ENDS = { text: ["done"] };

/** A run that has ended, and that the directory knows of. */
async function finished(caller: Caller, ...steps: Parameters<typeof chat>[0]): Promise<string> {
  const response = await chat(steps, caller);
  const runId = runIdOf(response);
  await response.text();
  await vi.waitFor(async () =>
    expect(idsOf(await list("?status=completed&limit=100"))).toContain(runId),
  );
  return runId;
}

test("a run is listed while it goes, and as it ended with its title and its counts", async () => {
  const title = { name: "core__generate_title", args: '{"title":"My trip"}' };
  const response = await chat([{ calls: [title] }, { text: ["hi"], holds: "listed" }], "archive");
  const runId = runIdOf(response);
  await expect.poll(async () => idsOf(await list("?status=running"))).toContain(runId);
  await fetch("http://provider.test/release/listed");
  await response.text();
  const find = async () =>
    (await list("?status=completed")).runs.find((run) => run.runId === runId);
  await expect.poll(find).toMatchObject({
    status: "completed",
    reason: "stop",
    title: "My trip",
    actorId: "user:archive",
    steps: 2,
    toolCalls: 1,
  });
});

describe("filters by assistant and tool", () => {
  test("a caller finds the runs that asked for a tool, allowed or not, and those of an assistant", async () => {
    const call = { name: "core__calculate", args: '{"expression":"6*7"}' };
    const asked = await finished("archive", { calls: [call] }, { text: ["42"] });
    const refused = await finished(
      "archive",
      { calls: [{ name: "no__tool", args: "{}" }] },
      { text: ["no"] },
    );
    expect(idsOf(await list("?tool=core__calculate"))).toEqual([asked]);
    expect(idsOf(await list("?tool=no__tool"))).toEqual([refused]);
    expect(idsOf(await list("?tool=core__calcul"))).toEqual([]);
    // A made-up name that ends like another one is not that one.
    await finished("archive", { calls: [{ name: 'no"core__calculate', args: "{}" }] }, ENDS);
    expect(idsOf(await list("?tool=core__calculate"))).toEqual([asked]);
    const [run] = (await list("?tool=no__tool")).runs;
    expect(run).toMatchObject({ assistantId: "default", toolIds: ["no__tool"] });
    expect(idsOf(await list("?assistant=default&tool=no__tool"))).toEqual([refused]);
    expect(idsOf(await list("?assistant=other"))).toEqual([]);
    expect(idsOf(await list("?tool=no__tool", "mira"))).toEqual([]);
    const { next = "" } = await list("?assistant=default&limit=1");
    const other = await ask(`?tool=no__tool&limit=1&cursor=${next}`);
    expect(await refusalOf(other)).toEqual([400, "cursor_invalid"]);
  });

  test("a run is found by a tool that ran, however many made-up tools were asked for before", async () => {
    const madeUp = Array.from({ length: 60 }, (_, at) => ({ name: `made__up_${at}`, args: "{}" }));
    const call = { name: "core__calculate", args: '{"expression":"6*8"}' };
    const runId = await finished("archive", { calls: [...madeUp, call] }, { text: ["48"] });
    const [newest] = (await list("?tool=core__calculate")).runs;
    expect(newest).toMatchObject({ runId });
    expect(newest?.toolIds).toHaveLength(50);
  });

  test("a page looks at a bounded number of runs, and the next one goes on from there", async () => {
    const told = (number: number): RunSummary => ({
      ...summaryOf(number),
      ...(number === 1
        ? { status: "failed", toolIds: ["lab__rare"] }
        : { toolIds: ["lab__often"] }),
    });
    await runInDurableObject(tenantOf("filters"), (_object, { storage: { sql } }) => {
      const { counted, take } = countRows(sql);
      const runs = new RunDirectory(counted);
      runs.createTable();
      for (let number = 1; number <= 2_500; number++) {
        runs.put(told(number), { seq: 1, atMs: number });
      }
      const look = (filter: Partial<RunQuery>, after?: ListPosition) => {
        take();
        const page = runs.list({ ...filter, limit: 5, ...(after && { after }) });
        return { ...page, rows: take() };
      };
      const often = look({ toolId: "lab__often" });
      expect([often.items.length, often.rows < 50]).toEqual([5, true]);
      for (const rare of [{ toolId: "lab__rare" }, { status: "failed" }] as const) {
        const pages = [look(rare)];
        while (pages.at(-1)?.next) pages.push(look(rare, pages.at(-1)?.next));
        expect(pages.map(({ items }) => items.length)).toEqual([0, 0, 1]);
        // A row of the index and one of the table for each.
        for (const { rows } of pages) expect(rows).toBeLessThan(2_100);
      }
    });
  });
});

describe("whose runs a caller sees", () => {
  let ids: Readonly<Record<"mira" | "noor" | "mirasAgent" | "helper", string>>;
  beforeAll(async () => {
    ids = {
      mira: await finished("mira", { text: ["a"] }),
      noor: await finished("noor", { text: ["b"] }),
      mirasAgent: await finished("mirasAgent", { text: ["c"] }),
      helper: await finished("helper", { text: ["d"] }),
    };
  });

  test.each<[Caller, readonly (keyof typeof ids)[]]>([
    ["mira", ["mira", "mirasAgent"]],
    ["noor", ["noor"]],
    ["mirasAgent", ["mirasAgent"]],
    ["helper", ["mirasAgent", "helper"]],
  ])("%s sees those of %j", async (caller, own) => {
    const seen = idsOf(await list("?limit=100", caller));
    expect([...seen].sort()).toEqual(own.map((name) => ids[name]).sort());
  });

  test("a cursor is of no use with another caller of the same tenant", async () => {
    const { next = "" } = await list("?limit=1", "mira");
    expect(next).not.toBe("");
    for (const caller of ["noor", "mirasAgent", "archive"] as const) {
      const answer = await ask(`?limit=1&cursor=${next}`, caller);
      expect(await refusalOf(answer)).toEqual([400, "cursor_invalid"]);
    }
  });

  test("who may see all sees all of the tenant, and none of another", async () => {
    expect(idsOf(await list("?limit=100"))).toEqual(expect.arrayContaining(Object.values(ids)));
    expect(await list("", "stranger")).toEqual({ runs: [] });
  });

  test("a filter by actor widens nothing", async () => {
    expect(idsOf(await list("?actor=user:noor", "mira"))).toEqual([]);
    expect(idsOf(await list("?actor=user:noor"))).toEqual([ids.noor]);
    expect(idsOf(await list("?actor=user:nobody"))).toEqual([]);
  });
});

describe("pages", () => {
  const tenant = "elsewhere";
  const tell = (name: string, ageMs: number): Promise<void> => {
    const run = { createdAt: isoAt(-ageMs), actorId: `user:${name}` as never };
    return tenantOf(tenant).receive(`run_${name}` as never, [runNotice(1, run)]);
  };
  beforeAll(async () => {
    for (let index = 0; index < 7; index++) await tell(`p${index}`, 3_600_000 + index * 1_000);
    // Two of one moment.
    await tell("p5b", 3_600_000 + 5_000);
  });

  test("are newest first, whole, without repetition, and stay so while runs start", async () => {
    const to = encodeURIComponent(isoAt(-1_800_000));
    const all: string[] = [];
    let cursor = "";
    for (let turn = 0; turn < 9; turn++) {
      const page = await list(`?limit=3&to=${to}${cursor}`, "stranger");
      all.push(...idsOf(page));
      await tell(`new${turn}`, 0);
      if (page.next === undefined) break;
      cursor = `&cursor=${page.next}`;
    }
    const names = ["p0", "p1", "p2", "p3", "p4"];
    expect(all.slice(0, 5)).toEqual(names.map((name) => `run_${name}`));
    expect([...all].sort()).toEqual(
      ["p0", "p1", "p2", "p3", "p4", "p5", "p5b", "p6"].map((name) => `run_${name}`).sort(),
    );
  });

  test("go on under another limit, and end without a cursor", async () => {
    const { next } = await list("?limit=1&status=running", "stranger");
    const rest = await list(`?limit=100&status=running&cursor=${next}`, "stranger");
    expect(rest.next).toBeUndefined();
    expect(rest.runs.length).toBeGreaterThan(6);
  });

  test.each<[string, (cursor: string) => Promise<Response>]>([
    ["another tenant", (cursor) => ask(`?status=running&cursor=${cursor}`, "archive")],
    ["another filter", (cursor) => ask(`?status=failed&cursor=${cursor}`, "stranger")],
    ["no filter", (cursor) => ask(`?cursor=${cursor}`, "stranger")],
    ["one filter more", (cursor) => ask(`?status=running&actor=null&cursor=${cursor}`, "stranger")],
    ["another list", (cursor) => send(`/v1/approvals?cursor=${cursor}`, { caller: "stranger" })],
  ])("a cursor is of no use with %s", async (_name, use) => {
    const { next = "" } = await list("?limit=1&status=running", "stranger");
    expect(await refusalOf(await use(next))).toEqual([400, "cursor_invalid"]);
  });

  test("a cursor that was edited anywhere is refused", async () => {
    const { next = "" } = await list("?limit=1&status=running", "stranger");
    for (const at of [0, 5, 15, 20, Math.floor(next.length / 2), next.length - 4]) {
      const edited = next.slice(0, at) + (next[at] === "A" ? "B" : "A") + next.slice(at + 1);
      const answer = await ask(`?status=running&cursor=${edited}`, "stranger");
      expect(await refusalOf(answer)).toEqual([400, "cursor_invalid"]);
    }
    for (const made of ["x", ".", "a.b", next.slice(0, -1), `${next}A`, "%00", "..%2f"]) {
      const answer = await ask(`?status=running&cursor=${made}`, "stranger");
      expect(await refusalOf(answer)).toEqual([400, "cursor_invalid"]);
    }
  });
});

describe("a query is refused", () => {
  test.each([
    "?limit=0",
    "?limit=-1",
    "?limit=101",
    "?limit=1e9",
    "?limit=1.5",
    "?limit=NaN",
    "?limit=",
    "?limit=0x10",
    "?limit=5&limit=6",
    "?status=open",
    "?status=",
    "?statsu=failed",
    "?from=yesterday",
    "?from=2026-13-01T00:00:00Z",
    "?to=1e99",
    "?actor=",
    "?cursor=",
    "?__proto__=1",
    "?constructor=1",
  ])("%s", async (query) => {
    expect(await refusalOf(await ask(query))).toEqual([400, "query_invalid"]);
  });

  test.each(["actor", "cursor"])("%s of 2,000 characters", async (name) => {
    const answer = await ask(`?${name}=${"a".repeat(2_000)}`);
    expect(await refusalOf(answer)).toEqual([400, "query_invalid"]);
  });

  test("and what it said is not repeated", async () => {
    const answer = await ask("?status=%3Cscript%3E&x=1");
    expect(await answer.text()).not.toContain("script");
  });
});

test("SQL in a filter is a text like any other", async () => {
  expect(await list(`?actor=${encodeURIComponent("' OR 1=1 --")}`)).toEqual({ runs: [] });
});

test("a list needs its scope and accepts no other method", async () => {
  expect(await refusalOf(await ask("", "talker"))).toEqual([403, "insufficient_scope"]);
  expect(await refusalOf(await send("/v1/runs"))).toEqual([401, "missing_token"]);
  const answer = await send("/v1/runs", { caller: "archive", method: "DELETE" });
  expect(await refusalOf(answer)).toEqual([405, "method_not_allowed"]);
});
