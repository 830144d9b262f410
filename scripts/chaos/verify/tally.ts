import { hasBrowser } from "../../browser-path.ts";
import { withRunPages } from "../client/run-pages.ts";
import { parseRunStream } from "../client/run-stream.ts";
import { findLeftOver } from "./left-over.ts";
import { followRun, type FollowedRun, type FollowOptions } from "../client/follow-run.ts";
import type { Failure, PartContext, PartResult } from "../part.ts";
import type { ChaosScript } from "../world/scenario.ts";
import type { Target } from "../client/target.ts";
import { explainEnded } from "./explanations.ts";
import { replayEnded } from "./replays.ts";
import { seededRandom } from "../seeded-random.ts";
import { findUntold, type KnownRun } from "./told-by-page.ts";
import { verifyRun } from "./verify-run.ts";
import { verifyTenant } from "./verify-tenant.ts";

/** A part stops after this many failures. */
const MAX_FAILURES = 20;
/** About so many runs of a part are decided again. */
const MAX_REPLAYS = 200;
/** So many runs of a part that failed, chosen at random, are explained in words. */
const EXPLAINED = 10;
/** And so many by their page in a short proof; all of them in a whole one. */
const SHORT_PAGES = 3;

/** Counts what a part does, and keeps its failures. */
export class Tally {
  readonly #counts: Record<string, number> = {};
  readonly #failures: Failure[] = [];
  readonly #verified: FollowedRun[] = [];
  readonly #context: PartContext;

  constructor(context: PartContext) {
    this.#context = context;
  }

  count(what: string, amount = 1): number {
    return (this.#counts[what] = (this.#counts[what] ?? 0) + amount);
  }

  fail(name: string, problems: readonly string[]): void {
    if (problems.length === 0) return;
    this.#context.progress.keep(`FAIL ${name}\n       ${problems.join("\n       ")}`);
    this.#failures.push({ name, problems });
  }

  get isFull(): boolean {
    return this.#failures.length >= MAX_FAILURES;
  }

  /** Follows a run to its end and verifies it. Undefined when the run does not end. */
  async carry(
    target: Target,
    script: ChaosScript,
    options: Partial<FollowOptions> & { readonly name: string; readonly mustSucceed: boolean },
  ): Promise<FollowedRun | undefined> {
    const { operator } = this.#context;
    try {
      const run = await followRun(target, script, { operator, ...options });
      await this.verify(run, options);
      return run;
    } catch (error) {
      this.fail(options.name, [String(error)]);
      return undefined;
    }
  }

  async verify(
    run: FollowedRun,
    { name, mustSucceed }: { readonly name: string; readonly mustSucceed: boolean },
  ): Promise<void> {
    const entries = this.#context.world.effects.ofRun(run.state.runId);
    this.count("runs");
    this.count("approved calls", run.approver.approved.size);
    this.count("lasting consents", run.approver.consents);
    this.count("rejected calls", run.approver.rejected.size);
    this.#verified.push(run);
    this.fail(name, await verifyRun({ run, entries, mustSucceed }));
  }

  /**
   * Verifies every run again, because an effect may happen after the end of its run. Then compares
   * the records of the tenant with its runs.
   */
  async close(target: Target): Promise<PartResult> {
    for (const run of this.#verified) {
      const entries = this.#context.world.effects.ofRun(run.state.runId);
      const problems = await verifyRun({ run, entries, mustSucceed: false });
      const isNews = this.#failures.every(({ name }) => !name.includes(run.script.id));
      if (isNews) this.fail(`${run.script.id}, after its end`, problems);
    }
    const runIds = this.#verified.map(({ state }) => state.runId);
    this.fail("tenant", await verifyTenant(target, runIds));
    this.fail("left over", await findLeftOver(target));
    await this.#replay(target, runIds);
    const failed = this.#pickFailed();
    await this.#explain(target, failed);
    await this.#readPages(target, this.#context.isShort ? failed.slice(0, SHORT_PAGES) : failed);
    return { counts: this.#counts, failures: this.#failures };
  }

  /** Decides a sample of the runs again. */
  async #replay(target: Target, runIds: readonly string[]): Promise<void> {
    const random = seededRandom(this.#context.seed, "replays");
    const percent = (100 * MAX_REPLAYS) / runIds.length;
    const sample = runIds.filter(() => random.chance(percent));
    const { equal, refused, problems } = await replayEnded(target, sample);
    this.count("decided again alike", equal);
    this.count("not replayable", refused);
    this.fail("replays", problems);
  }

  /**
   * Picks runs that failed at random, and then runs of which a call failed. Those with an outcome
   * that no earlier one has come first.
   */
  #pickFailed(): readonly FollowedRun[] {
    const random = seededRandom(this.#context.seed, "explained");
    const drawn = this.#verified
      .map((run) => ({ run, place: random.fraction() }))
      .toSorted((a, b) => a.place - b.place)
      .map(({ run }) => run);
    const hasFailed = ({ state }: FollowedRun): boolean => state.status !== "completed";
    const ofCalls = drawn.filter((run) => !hasFailed(run) && hasFailedCall(run));
    const candidates = [...drawn.filter(hasFailed), ...ofCalls];
    const seen = new Set<string | undefined>(["SUCCESS"]);
    const fresh = candidates.filter(({ state }) => {
      const before = seen.size;
      for (const { outcome } of state.toolCalls) seen.add(outcome);
      return seen.size > before;
    });
    return [...new Set([...fresh, ...candidates])].slice(0, EXPLAINED);
  }

  /** Reads in a terminal why runs ended, as an operator would. */
  async #explain(target: Target, failed: readonly FollowedRun[]): Promise<void> {
    for (const run of failed) this.fail("explained", await explainEnded(target, run));
    this.count("failed runs explained", failed.length);
  }

  /** Reads the pages of runs in a browser, as somebody would who saw nothing of them. */
  async #readPages(target: Target, failed: readonly FollowedRun[]): Promise<void> {
    if (failed.length === 0) return;
    if (!hasBrowser()) {
      this.count("pages NOT read without a chromium", failed.length);
      return this.#context.progress.keep(
        `NOT CHECKED: ${failed.length} pages of failed runs. Install chromium, or name it in CHROMIUM_PATH.`,
      );
    }
    await withRunPages(target, async (read) => {
      for (const run of failed) {
        const { runId } = run.state;
        const page = await read(runId);
        const known = { run, ...(await this.#known(run)) };
        const untold = [...findUntold(known, page)];
        const told = untold.length > 0 ? [`its page says: ${page.text}`] : [];
        this.fail(`page of ${runId}`, [...untold, ...told]);
        this.count("pages of failed runs read");
      }
    }).catch((error: unknown) => this.fail("pages of failed runs", [String(error)]));
  }

  /** What the proof itself knows of a run. */
  async #known({ state: { runId }, stream }: FollowedRun): Promise<Omit<KnownRun, "run">> {
    const { world, operator } = this.#context;
    const { calls: streamed } = await parseRunStream(stream);
    return {
      streamed,
      entries: world.effects.ofRun(runId),
      reports: operator.reportsOf(runId),
    };
  }
}

function hasFailedCall({ state }: FollowedRun): boolean {
  return state.toolCalls.some(({ outcome }) => outcome !== "SUCCESS");
}
