import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { Deadlines, type RunDeadline, type RunDeadlines } from "../../durable-objects/deadlines.ts";
import { openRun, type OpenRun } from "../../durable-objects/run/open-run.ts";
import { replayLog } from "../../durable-objects/run/logged-state.ts";
import { Outbox } from "../../durable-objects/run/outbox.ts";
import { firstDeadlines } from "../../durable-objects/run/run-deadlines.ts";
import { RunLifecycle } from "../../durable-objects/run/run-lifecycle.ts";
import { RunStore } from "../../durable-objects/run/run-store.ts";
import { systemClock } from "../../src/adapters/platform/system.ts";
import type { Clock } from "../../src/capabilities/system.ts";
import type { SentNotice } from "../../src/capabilities/tenant.ts";
import type { RawEnv } from "../../src/env.ts";
import type { AuditEntry } from "../../src/protocol/audit/entry.ts";
import type { RunId } from "../../src/protocol/identity/ids.ts";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { deploymentOf } from "../shared/deployment.ts";
import { bindings } from "../shared/worker.ts";

/** A fake tenant object; `answer` decides how it answers. */
class Tenant {
  readonly batches: (readonly SentNotice[])[] = [];
  answer: () => Promise<void> = () => Promise.resolve();

  get binding(): object {
    const receive = async (_runId: RunId, sent: readonly SentNotice[]): Promise<void> => {
      this.batches.push(sent);
      await this.answer();
    };
    return { idFromName: (name: string) => name, get: () => ({ receive }) };
  }

  get seqs(): readonly number[] {
    return this.batches.flatMap((batch) => batch.map(({ seq }) => seq));
  }
}

interface Bench {
  readonly run: OpenRun;
  readonly tenant: Tenant;
  readonly deadlines: RunDeadlines;
  /** A new incarnation over the same storage. */
  readonly newLifecycle: () => RunLifecycle;
  readonly pass: (ms: number) => void;
  /** Shortens all later timers to 20 ms. */
  readonly hurry: () => void;
  readonly forgotten: () => boolean;
  readonly sql: SqlStorage;
}

let objects = 0;

function withRun(
  steps: readonly ScriptedStep[],
  work: (bench: Bench) => Promise<void>,
): Promise<void> {
  const runId = `run_outbox_${objects++}` as RunId;
  const stub = bindings.RUNS.get(bindings.RUNS.idFromName(runId));
  return runInDurableObject(stub, async (_object, { storage }) => {
    let shiftMs = 0;
    let isForgotten = false;
    let longestMs = Number.POSITIVE_INFINITY;
    const clock: Clock = {
      nowMs: () => systemClock.nowMs() + shiftMs,
      schedule: (delayMs, task) => systemClock.schedule(Math.min(delayMs, longestMs), task),
    };
    const abandon = (): void => {};
    const store = new RunStore(storage);
    const principal = { tenantId: runId, actorId: "user:ann", roles: [], scopes: [] } as never;
    const messages = [{ role: "user", text: script(...steps) }] as const;
    const createdMs = clock.nowMs();
    store.claim(
      { runId, principal, model: "scripted", messages },
      { createdMs, deadlines: firstDeadlines(createdMs) },
    );
    const run = openRun({ storage, store, clock, abandon });
    const deadlines = new Deadlines<RunDeadline>(storage, store.deadlines);
    const tenant = new Tenant();
    const newLifecycle = (): RunLifecycle =>
      new RunLifecycle(run, {
        env: { ...(env as unknown as RawEnv), TENANTS: tenant.binding },
        deployment: deploymentOf([]),
        clock,
        deadlines,
        keepAlive: (done) => void done.catch(() => {}),
        abandon,
        conversation: {
          keepFirst: () => {},
          lastTurnMs: () => undefined,
          continueErasure: async () => true,
        },
        forget: async () => void (isForgotten = true),
      });
    const pass = (ms: number): void => void (shiftMs += ms);
    await work({
      run,
      tenant,
      deadlines,
      newLifecycle,
      pass,
      hurry: () => void (longestMs = 20),
      forgotten: () => isForgotten,
      sql: storage.sql,
    });
    await storage.deleteAlarm();
  });
}

const fact = (reason: string): AuditEntry => ({
  action: "approval.voted",
  at: "2026-11-21T00:00:00.000Z",
  reason,
});
const tell = (outbox: Outbox, reason: string): void =>
  outbox.notify({ type: "audit", entry: fact(reason) });
const down = (): Promise<void> => Promise.reject(new Error("the tenant's object is away"));

describe("notice numbers", () => {
  test("are never reused after delivery and removal", () =>
    withRun([], async ({ run: { store } }) => {
      const seqs: number[] = [];
      for (let turn = 0; turn < 3; turn++) {
        const logged = replayLog(store.log.entries(), seqs.at(-1) ?? 0);
        const outbox = new Outbox(store, logged, store.identity().createdMs);
        tell(outbox, "a");
        outbox.put();
        const [notice] = outbox.notices();
        seqs.push(notice?.seq ?? 0);
        outbox.removeNotices(notice?.seq ?? 0);
        outbox.remove(outbox.first()?.seq ?? 0);
      }
      const [first = 0] = seqs;
      expect(seqs).toEqual([first, first + 2, first + 4]);
    }));

  test("of a run that is started again under its id are higher than those of the deleted run", () =>
    withRun([], async ({ run: { outbox, store } }) => {
      tell(outbox, "a");
      const { createdMs } = store.identity();
      expect(outbox.notices()[0]?.seq).toBe(createdMs * 1_000 + 1);
    }));
});

test("where what was delivered cannot be stored, later deliveries are stored at once", () =>
  withRun([], async ({ run: { store } }) => {
    const delivered: number[] = [];
    const saveDelivered = (seq: number): void => {
      if (delivered.push(seq) === 1) throw new Error("storage failed");
    };
    const outbox = new Outbox({ log: store.log, saveDelivered }, store.logged(), 0);
    outbox.hold();
    outbox.removeNotices(1);
    expect(delivered).toEqual([]);
    expect(() => outbox.store()).toThrow("storage failed");
    outbox.removeNotices(2);
    expect(delivered).toEqual([1, 2]);
  }));

test("a batch is bounded by number and size, and holds at least one notice", () =>
  withRun([], async ({ run: { outbox } }) => {
    for (let index = 0; index < 60; index++) tell(outbox, `${index}`);
    expect(outbox.notices().length).toBe(50);
    outbox.removeNotices(Number.MAX_SAFE_INTEGER);
    for (let index = 0; index < 3; index++) tell(outbox, "x".repeat(200_000));
    expect(outbox.notices().length).toBe(1);
  }));

test("a run reports its start and its end in order, in few messages", () =>
  withRun([{ text: ["hi"] }], async ({ newLifecycle, tenant, run }) => {
    newLifecycle().start();
    await expect.poll(() => run.journal.hasEnded).toBe(true);
    await expect.poll(() => run.outbox.hasNotices()).toBe(false);
    const told = tenant.batches
      .flat()
      .map(({ notice }) =>
        notice.type === "audit" ? notice.entry.action : notice.type === "run" && notice.run.status,
      );
    expect(told).toEqual(["running", "run.started", "completed", "run.ended"]);
    expect(tenant.batches.length).toBeLessThanOrEqual(2);
    expect(tenant.seqs).toEqual([...tenant.seqs].sort((a, b) => a - b));
  }));

test("a running run sends at most one message per second", () =>
  withRun([{ text: ["half"], hangs: true }], async ({ newLifecycle, tenant, run, deadlines }) => {
    const lifecycle = newLifecycle();
    lifecycle.start();
    await expect.poll(() => deadlines.has("wall_clock")).toBe(true);
    await expect.poll(() => tenant.batches.length).toBe(1);
    const startMs = Date.now();
    // A slow machine takes longer for the twenty turns, and may send one more for each second.
    const allowed = (): number => 1 + Math.ceil((Date.now() - startMs) / 1_000);
    for (let turn = 0; turn < 20; turn++) {
      tell(run.outbox, `${turn}`);
      await new Promise((later) => setTimeout(later, 10));
    }
    expect(tenant.batches.length).toBeLessThanOrEqual(allowed());
    await expect.poll(() => run.outbox.hasNotices()).toBe(false);
    expect(tenant.batches.length).toBeLessThanOrEqual(allowed());
    await lifecycle.stop("cancelled");
  }));

describe("an unreachable tenant object", () => {
  test("delays neither the run nor its publication, and gets the notices later in order", () =>
    withRun([{ text: ["hi"] }], async ({ newLifecycle, tenant, run, deadlines, pass }) => {
      tenant.answer = down;
      const lifecycle = newLifecycle();
      lifecycle.start();
      await expect.poll(() => run.journal.hasEnded).toBe(true);
      await expect.poll(() => run.outbox.first()).toBe(undefined);
      await expect
        .poll(() => [run.outbox.hasNotices(), deadlines.has("outbox")])
        .toEqual([true, true]);
      const refused = tenant.batches.length;
      tenant.answer = () => Promise.resolve();
      pass(6_000);
      await lifecycle.handleDueDeadlines();
      expect([run.outbox.isEmpty(), deadlines.has("outbox")]).toEqual([true, false]);
      const taken = tenant.batches.slice(refused).flat();
      expect(taken.map(({ seq }) => seq)).toEqual([...new Set(tenant.seqs)].sort((a, b) => a - b));
    }));

  test("that never answers does not block an alarm", () =>
    withRun([{ text: ["hi"] }], async ({ newLifecycle, tenant, run, deadlines, pass }) => {
      tenant.answer = () => new Promise(() => {});
      const lifecycle = newLifecycle();
      lifecycle.start();
      await expect.poll(() => run.journal.hasEnded).toBe(true);
      await expect.poll(() => run.outbox.first()).toBe(undefined);
      await expect.poll(() => tenant.batches.length).toBeGreaterThan(0);
      pass(31_000);
      await lifecycle.handleDueDeadlines();
      expect(deadlines.has("outbox")).toBe(true);
    }));

  test("that never answers delays no other deadline, and gets the notices again", () =>
    withRun([], async ({ newLifecycle, tenant, run, deadlines, pass, hurry }) => {
      tenant.answer = () => new Promise(() => {});
      hurry();
      const lifecycle = newLifecycle();
      tell(run.outbox, "vote");
      deadlines.set("retention", 2);
      deadlines.set("outbox", 1);
      await lifecycle.handleDueDeadlines();
      expect([deadlines.has("retention"), deadlines.has("outbox")]).toEqual([false, true]);
      tenant.answer = () => Promise.resolve();
      pass(6_000);
      await lifecycle.handleDueDeadlines();
      expect([run.outbox.hasNotices(), deadlines.has("outbox")]).toEqual([false, false]);
      expect(tenant.seqs.length).toBeGreaterThan(1);
    }));

  test("delays the deletion of the run, not its shrinking", () =>
    withRun(
      [{ text: ["hi"] }],
      async ({ newLifecycle, tenant, run, deadlines, pass, forgotten, sql }) => {
        tenant.answer = down;
        const lifecycle = newLifecycle();
        lifecycle.start();
        await expect.poll(() => deadlines.has("forget")).toBe(true);
        pass(400 * 86_400_000);
        await lifecycle.handleDueDeadlines();
        expect(sql.exec("SELECT claim FROM log WHERE seq = 0").one()).toEqual({ claim: null });
        expect(replayLog(run.store.log.entries(), 0).notices).toEqual(run.outbox.notices());
        expect([run.outbox.hasNotices(), deadlines.has("forget"), forgotten()]).toEqual([
          true,
          true,
          false,
        ]);
        tenant.answer = () => Promise.resolve();
        pass(700_000);
        await lifecycle.handleDueDeadlines();
        expect(run.outbox.hasNotices()).toBe(false);
        pass(700_000);
        await lifecycle.handleDueDeadlines();
        expect(forgotten()).toBe(true);
      },
    ));
});

test("the next incarnation sends the notices that the last one did not deliver", () =>
  withRun([], async ({ newLifecycle, tenant, run }) => {
    // No incarnation listens: the notice stays where the last one left it.
    tell(run.outbox, "left");
    // The run backs off, so no loop adds a notice.
    run.store.saveIncarnations({ ...run.store.incarnations(), recoveries: 1, recoveredStep: 0 });
    newLifecycle().wake();
    await expect.poll(() => run.outbox.hasNotices()).toBe(false);
    expect(tenant.batches.flat()).toMatchObject([{ notice: { entry: { reason: "left" } } }]);
  }));

test("a notice of a run without a loop sets the outbox deadline at once", () =>
  withRun([], async ({ newLifecycle, run, deadlines, tenant }) => {
    newLifecycle();
    deadlines.clear("watchdog");
    expect(deadlines.has("outbox")).toBe(false);
    tell(run.outbox, "vote");
    expect(deadlines.has("outbox")).toBe(true);
    await expect.poll(() => tenant.batches.length).toBe(1);
    await expect.poll(() => deadlines.has("outbox")).toBe(false);
  }));
