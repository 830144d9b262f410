import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { Deadlines, type RunDeadline, type RunDeadlines } from "../../durable-objects/deadlines.ts";
import { openRun, type OpenRun } from "../../durable-objects/run/open-run.ts";
import { firstDeadlines } from "../../durable-objects/run/run-deadlines.ts";
import { RunLifecycle } from "../../durable-objects/run/run-lifecycle.ts";
import { RunStore } from "../../durable-objects/run/run-store.ts";
import { systemClock } from "../../src/adapters/platform/system.ts";
import type { RawEnv } from "../../src/env.ts";
import type { RunId } from "../../src/protocol/identity/ids.ts";
import type { Principal } from "../../src/protocol/identity/principal.ts";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { deploymentOf } from "../shared/deployment.ts";
import { bindings } from "../shared/worker.ts";

/** A run over an object's storage, whose bindings may fail. */
interface Bench {
  readonly run: OpenRun;
  readonly deadlines: RunDeadlines;
  /** A new incarnation over the same storage. */
  readonly newLifecycle: (change?: object) => RunLifecycle;
  readonly abandoned: unknown[];
  readonly runId: RunId;
  readonly pass: (ms: number) => void;
}

let objects = 0;

async function withRun(
  steps: readonly ScriptedStep[],
  work: (bench: Bench) => Promise<void>,
): Promise<void> {
  const runId = `run_bench_${objects++}` as RunId;
  const stub = bindings.RUNS.get(bindings.RUNS.idFromName(runId));
  await runInDurableObject(stub, async (_object, { storage }) => {
    let shiftMs = 0;
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + shiftMs };
    const abandoned: unknown[] = [];
    const abandon = (cause: unknown): void => void abandoned.push(cause);
    const store = new RunStore(storage);
    const principal = { tenantId: runId, actorId: "user:ann", roles: [], scopes: [] } as never;
    const claim = { runId, principal: principal as Principal, model: "scripted" };
    const messages = [{ role: "user", text: script(...steps) }] as const;
    const createdMs = clock.nowMs();
    store.claim(
      { ...claim, requestHash: "sha256:1", messages },
      { createdMs, deadlines: firstDeadlines(createdMs) },
    );
    const run = openRun({ storage, store, clock, abandon });
    const deadlines = new Deadlines<RunDeadline>(storage, store.deadlines);
    const keepAlive = (done: Promise<unknown>): void => void done.catch(() => {});
    const newLifecycle = (change: object = {}): RunLifecycle =>
      new RunLifecycle(run, {
        env: { ...(env as unknown as RawEnv), ...change },
        deployment: deploymentOf([]),
        clock,
        deadlines,
        keepAlive,
        abandon,
        conversation: {
          keepFirst: () => {},
          lastTurnMs: () => undefined,
          continueErasure: async () => true,
        },
        forget: () => storage.deleteAll(),
      });
    const pass = (ms: number): void => {
      shiftMs += ms;
    };
    await work({ run, deadlines, newLifecycle, abandoned, runId, pass });
    await storage.deleteAlarm();
  });
}

const never = (): Promise<never> => new Promise(() => {});
/** A KV store that never answers. */
const HUNG = { get: never, put: never };

test("a loop that does not reach its first step in time is abandoned", () =>
  withRun([], async ({ newLifecycle, pass, abandoned, deadlines }) => {
    const lifecycle = newLifecycle({ POLICY: HUNG });
    lifecycle.start();
    await lifecycle.handleDueDeadlines();
    expect(abandoned).toEqual([]);
    pass(31_000);
    await lifecycle.handleDueDeadlines();
    expect(abandoned).toEqual(["the loop is stuck"]);
    expect(deadlines.has("watchdog")).toBe(true);
  }));

test("a loop with a slow step is not abandoned", () =>
  withRun(
    [{ text: ["half"], hangs: true }],
    async ({ newLifecycle, pass, abandoned, deadlines, run }) => {
      const lifecycle = newLifecycle();
      lifecycle.start();
      await expect.poll(() => deadlines.has("wall_clock")).toBe(true);
      pass(31_000);
      await lifecycle.handleDueDeadlines();
      expect(abandoned).toEqual([]);
      await lifecycle.stop("cancelled");
      expect(run.store.progress().reason).toBe("cancelled");
    },
  ));

test("a failed publication is repeated by the alarm, and then no alarm is left", () =>
  withRun([{ text: ["hi"] }], async ({ newLifecycle, pass, deadlines, run, runId }) => {
    let failures = 0;
    const put = async (...entry: readonly unknown[]): Promise<void> => {
      if (failures++ === 0) throw new Error("KV is away");
      await bindings.IDEMPOTENCY.put(...(entry as Parameters<KVNamespace["put"]>));
    };
    const lifecycle = newLifecycle({ IDEMPOTENCY: { get: never, put } });
    lifecycle.start();
    await expect.poll(() => failures).toBe(1);
    expect(await bindings.IDEMPOTENCY.get(`run/${runId}`)).toBeNull();
    expect(deadlines.at("outbox")).toBeGreaterThan(systemClock.nowMs());
    pass(6_000);
    await lifecycle.handleDueDeadlines();
    const record = await bindings.IDEMPOTENCY.get(`run/${runId}`);
    expect(JSON.parse(record ?? "")).toMatchObject({ run: { runId } });
    expect([run.outbox.isEmpty(), deadlines.has("outbox")]).toEqual([true, false]);
  }));

test("the next incarnation publishes an ended run whose object crashed before the publication", () =>
  withRun([{ text: ["hi"] }], async ({ newLifecycle, run, runId }) => {
    newLifecycle({ IDEMPOTENCY: HUNG }).start();
    await expect.poll(() => run.journal.hasEnded).toBe(true);
    const next = newLifecycle();
    next.wake();
    await next.handleDueDeadlines();
    expect(await bindings.IDEMPOTENCY.get(`run/${runId}`)).not.toBeNull();
  }));

test("an entry that arrives during a delivery is delivered too", () =>
  withRun([{ text: ["hi"] }], async ({ newLifecycle, run, deadlines }) => {
    const gate = Promise.withResolvers<void>();
    let puts = 0;
    const put = async (): Promise<void> => {
      puts++;
      await gate.promise;
    };
    const lifecycle = newLifecycle({ IDEMPOTENCY: { get: never, put } });
    lifecycle.start();
    await expect.poll(() => puts).toBe(1);
    deadlines.set("outbox", 1);
    await lifecycle.handleDueDeadlines();
    expect(puts).toBe(1);
    run.outbox.put();
    gate.resolve();
    await expect.poll(() => run.outbox.isEmpty()).toBe(true);
    expect(puts).toBe(2);
  }));

test("a run that begins to wait while its alarm rings is not recovered", () =>
  withRun([], async ({ newLifecycle, run, deadlines, abandoned }) => {
    const { store } = run;
    const put = async (): Promise<void> => {
      store.saveIncarnations({ ...store.incarnations(), isWaiting: true });
      deadlines.clear("watchdog");
    };
    run.outbox.put();
    deadlines.set("outbox", 1);
    deadlines.set("watchdog", 2);
    const lifecycle = newLifecycle({ IDEMPOTENCY: { get: never, put } });
    await lifecycle.handleDueDeadlines();
    await lifecycle.untilRest();
    expect(store.incarnations()).toMatchObject({ isWaiting: true, recoveries: 0 });
    expect([deadlines.has("watchdog"), run.journal.hasEnded, abandoned]).toEqual([
      false,
      false,
      [],
    ]);
  }));

test("a deadline that fails does not delay the other deadlines", () =>
  withRun([{ text: ["half"], hangs: true }], async ({ newLifecycle, run, deadlines }) => {
    const lifecycle = newLifecycle();
    lifecycle.start();
    await expect.poll(() => deadlines.has("wall_clock")).toBe(true);
    const shrink = run.store.shrink.bind(run.store);
    run.store.shrink = () => {
      throw new Error("broken");
    };
    deadlines.set("retention", 1);
    deadlines.set("wall_clock", 2);
    await expect(lifecycle.handleDueDeadlines()).rejects.toThrow("a deadline failed");
    await expect.poll(() => run.store.progress().error?.code).toBe("budget_exhausted");
    run.store.shrink = shrink;
  }));

test("a run that the deployment cannot start ends after a bounded number of attempts", () =>
  withRun([], async ({ newLifecycle, pass, run }) => {
    const lifecycle = newLifecycle({ MODELS: "" });
    try {
      lifecycle.start();
    } catch {
      // The first request gets the error.
    }
    for (let tries = 0; tries < 8 && !run.journal.hasEnded; tries++) {
      pass(60_000);
      await lifecycle.handleDueDeadlines().catch(() => {});
    }
    expect(run.store.progress()).toMatchObject({ error: { code: "interrupted" } });
  }));

test("a deleted run leaves no data and no due deadline", () =>
  withRun([{ text: ["hi"] }], async ({ newLifecycle, run, deadlines, pass }) => {
    const lifecycle = newLifecycle();
    lifecycle.start();
    await expect.poll(() => deadlines.has("forget")).toBe(true);
    expect(run.journal.hasEnded).toBe(true);
    deadlines.set("outbox", (deadlines.at("forget") ?? 0) + 1);
    pass(40 * 86_400_000);
    await expect(lifecycle.handleDueDeadlines()).resolves.toBeUndefined();
  }));
