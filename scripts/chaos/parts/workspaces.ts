import { TOKENS } from "../host/deployment.ts";
import { withHost, type Host } from "../host/hosts.ts";
import { leftOver } from "../verify/left-over.ts";
import type { Failure, Part, PartContext } from "../part.ts";
import { CRASH_MODES, type Crash, type CrashMode } from "../world/scenario.ts";
import { seededRandom } from "../seeded-random.ts";
import { planCrash } from "../host/shared-crashes.ts";
import { sleep } from "../sleep.ts";
import { isRefused, type Comparison } from "../worker/chaos-workspace.ts";

/** Kills of the processes, each during some writes. */
const KILLS = 40;
const SHORT_KILLS = 1;
const WRITES_AT_ONCE = 4;
/** Latest time of a kill after its writes began. Unit: milliseconds. */
const LATEST_KILL_MS = 250;
/** More than a write has. */
const MAX_POINTS = 20;
/** A call that has no answer within this time fails the proof. Unit: milliseconds. */
const PATIENCE_MS = 120_000;
const POLL_MS = 50;

/** Crashes a workspace at every durable write of a call, and kills the processes during calls. */
export const workspaces: Part = {
  name: "workspaces",
  claim:
    "a workspace may end at any write: its rows and its ledger agree, and each write is there once",
  run: (context) =>
    withHost(context, async (host) => {
      const trial = new Trial(context, host);
      await trial.crashEverywhere();
      await trial.killAgain();
      return await trial.close();
    }),
};

class Trial {
  readonly #context: PartContext;
  readonly #host: Host;
  readonly #failures: Failure[] = [];
  /** Operations so far, by workspace. */
  readonly #operations = new Map<CrashMode, number>();
  #crashes = 0;
  #kills = 0;

  constructor(context: PartContext, host: Host) {
    this.#context = context;
    this.#host = host;
  }

  /**
   * Each mode has a new workspace: its first writes create the tables, later ones only add rows.
   */
  async crashEverywhere(): Promise<void> {
    const { progress } = this.#context;
    for (const mode of CRASH_MODES) {
      for (let point = 1, reached = true; reached; point++) {
        // Twice: the first time the object may still create its tables.
        const crashed = [
          await this.#crashAt({ point, mode }),
          await this.#crashAt({ point, mode }),
        ];
        reached = crashed.includes(true) && point < MAX_POINTS;
        progress.show(`workspaces: ${mode} ${point}`);
      }
    }
  }

  /** Makes a write that crashes; answers false when it has no such point. */
  async #crashAt(crash: Crash): Promise<boolean> {
    const before = await planCrash(this.#host.url, "workspaces", crash);
    await this.#write(crash.mode);
    const { crashes } = await planCrash(this.#host.url, "workspaces", null);
    this.#crashes += crashes - before.crashes;
    return crashes > before.crashes;
  }

  async killAgain(): Promise<void> {
    const { isShort, seed, progress } = this.#context;
    const random = seededRandom(seed, "workspaces kills");
    for (let kill = 0; kill < (isShort ? SHORT_KILLS : KILLS); kill++) {
      const writes = Array.from({ length: WRITES_AT_ONCE }, () =>
        this.#write(random.pick(CRASH_MODES)),
      );
      await sleep(random.below(LATEST_KILL_MS));
      this.#host.kill();
      this.#kills++;
      await this.#host.gone();
      await this.#host.start();
      await Promise.all(writes);
      progress.show(`workspaces: kill ${kill + 1}`);
    }
  }

  async close(): ReturnType<Part["run"]> {
    let writes = 0;
    for (const [workspaceId, operations] of this.#operations) {
      const call = { toolId: "chaos__compare", args: {}, workspaceId, name: "compare" };
      const { data } = (await this.#call(call)).result_payload;
      writes += operations;
      this.#fail(workspaceId, findContradictions(data as unknown as Comparison, operations));
    }
    if (this.#crashes === 0) this.#fail("all", ["no crash came about"]);
    const target = { url: this.#host.url, token: TOKENS.chaos };
    this.#failures.push(...(await leftOver(target, "workspaces")));
    const counts = { "workspace crashes": this.#crashes, kills: this.#kills, writes };
    return { counts, failures: this.#failures };
  }

  /** Makes one write, however often it has to be asked for, and checks its answer. */
  async #write(workspaceId: CrashMode): Promise<void> {
    const operation = this.#operations.get(workspaceId) ?? 0;
    this.#operations.set(workspaceId, operation + 1);
    const name = `keep-${operation}`;
    const call = { toolId: "chaos__keep", args: { operation }, workspaceId, name };
    const { status } = await this.#call(call);
    const expected = isRefused(operation) ? "SEMANTIC_INVALIDITY" : "SUCCESS";
    if (status.taxonomy_class !== expected) {
      this.#fail(`operation ${operation} of ${workspaceId}`, [
        `${status.taxonomy_class} instead of ${expected}`,
      ]);
    }
  }

  async #call(call: Call): Promise<Observation> {
    const deadlineMs = Date.now() + PATIENCE_MS;
    for (;;) {
      const observed = await this.#ask(call);
      if (observed) return observed;
      if (Date.now() > deadlineMs) throw new Error(`${call.name} has no end`);
      await sleep(POLL_MS);
    }
  }

  /** Undefined while the call has not ended, or nothing answers. */
  async #ask({ toolId, args, workspaceId, name }: Call): Promise<Observation | undefined> {
    try {
      const answer = await fetch(`${this.#host.url}/v1/tools/${toolId}/invoke`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${TOKENS.chaos}`,
          "content-type": "application/json",
          "idempotency-key": `workspaces-${this.#context.seed}-${workspaceId}-${name}`,
        },
        body: JSON.stringify({ arguments: args, workspaceId }),
      });
      const body = await answer.json<{ readonly observation?: Observation }>();
      return answer.status === 200 ? body.observation : undefined;
    } catch {
      return undefined;
    }
  }

  #fail(name: string, problems: readonly string[]): void {
    if (problems.length > 0) this.#failures.push({ name: `workspaces: ${name}`, problems });
  }
}

interface Call {
  readonly toolId: string;
  readonly args: object;
  readonly workspaceId: CrashMode;
  /** Unique among the calls of its workspace. */
  readonly name: string;
}

interface Observation {
  readonly status: { readonly taxonomy_class: string };
  readonly result_payload: { readonly data: object | null };
}

/** An accepted operation has one row, one ledger row and one change; a refused one has no row. */
function findContradictions(found: Comparison, operations: number): readonly string[] {
  const all = Array.from({ length: operations }, (_, number) => number);
  const accepted = all.filter((number) => !isRefused(number));
  const expected: Comparison = {
    operations: accepted,
    total: accepted.length,
    changes: accepted.length,
    accepted: accepted.length,
    refused: operations - accepted.length,
    strays: 0,
  };
  return Object.entries(expected).flatMap(([name, value]) => {
    const seen = JSON.stringify(found[name as keyof Comparison]);
    return seen === JSON.stringify(value)
      ? []
      : [`${name}: ${seen} instead of ${JSON.stringify(value)}`];
  });
}
