import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { chat } from "../client.ts";
import type { Bench, Figure } from "../measure.ts";
import { RUN_KINDS, type RunKind } from "../run-kinds.ts";
import { median } from "../statistics.ts";

/** Time for strace to attach to every thread. */
const ATTACH_MS = 1_000;
/** A run sends its notices within a second. */
const DELIVERED_AFTER_MS = 2_000;

/** Writes and waits of one run on the disk. */
interface DiskUse {
  /** Writes to the write-ahead log of the run's object; two for each page, and one for the file. */
  readonly run: number;
  readonly tenant: number;
  /** Writes of workerd's own list of alarms, which only the local platform has. */
  readonly alarms: number;
  /** Every `fsync` and `fdatasync`, those of a new file included. */
  readonly syncs: number;
}

/** Counts with `strace` what one run writes to the disk. */
export async function measureWrites({ contenders, quick }: Bench): Promise<readonly Figure[]> {
  if (spawnSync("strace", ["-V"]).error) {
    console.log("\n  strace is not installed, so this measure has no figures");
    return [];
  }
  const figures: Figure[] = [];
  for (const kind of RUN_KINDS) {
    const uses: DiskUse[] = [];
    await chat(contenders.interlock, kind.scenario, kind.deltas);
    await wait(DELIVERED_AFTER_MS);
    for (let round = 0; round < (quick ? 1 : 5); round++) {
      uses.push(
        await trace(contenders.interlock.workerdPid, () =>
          chat(contenders.interlock, kind.scenario, kind.deltas),
        ),
      );
    }
    figures.push(...toFigures(kind, uses));
  }
  return figures;
}

function toFigures({ name, maxWalWrites }: RunKind, uses: readonly DiskUse[]): readonly Figure[] {
  const of = (pick: (use: DiskUse) => number): number => median(uses.map(pick));
  const figure = (what: string, value: number): Figure => ({
    name: `${name}: ${what}`,
    unit: "",
    raw: { interlock: value },
  });
  const total = of(({ run, tenant }) => run + tenant);
  return [
    {
      ...figure("WAL writes", total),
      ...(maxWalWrites !== undefined && {
        ratio: { to: "aim", value: total / maxWalWrites, atMost: 1 },
      }),
    },
    figure(
      "WAL writes of the run",
      of(({ run }) => run),
    ),
    figure(
      "WAL writes of its tenant",
      of(({ tenant }) => tenant),
    ),
    figure(
      "writes of the local list of alarms",
      of(({ alarms }) => alarms),
    ),
    figure(
      "fsync",
      of(({ syncs }) => syncs),
    ),
  ];
}

/** Runs `work` while strace watches a process. */
async function trace(pid: number, work: () => Promise<unknown>): Promise<DiskUse> {
  const directory = mkdtempSync(join(tmpdir(), "interlock-strace-"));
  const log = join(directory, "calls");
  const calls = "trace=fsync,fdatasync,pwrite64";
  const args = ["-f", "-qq", "-y", "-s", "0", "-e", calls, "-o", log, "-p", String(pid)];
  const strace = spawn("strace", args, { stdio: ["ignore", "inherit", "inherit"] });
  try {
    await wait(ATTACH_MS);
    await work();
    await wait(DELIVERED_AFTER_MS);
    strace.kill("SIGINT");
    await once(strace, "exit");
    return readUse(readFileSync(log, "utf8"));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Counts the calls in the output of strace, which names the file of each descriptor. */
function readUse(log: string): DiskUse {
  const calls = Array.from(
    log.matchAll(/(fsync|fdatasync|pwrite64)\(\d+<([^>]*)>/g),
    ([, call = "", path = ""]) => ({ call, path }),
  );
  // An object of an earlier run may leave memory meanwhile, and then copies its log.
  const newRuns = new Set(
    calls.flatMap(({ path }) =>
      path.includes("RunObject") && path.endsWith("-journal")
        ? [path.replace(/-journal$/, "")]
        : [],
    ),
  );
  const ofRun = (path: string): boolean => newRuns.has(path.replace(/-(?:wal|shm|journal)$/, ""));
  const ofTenant = (path: string): boolean =>
    path.includes("TenantObject") && !path.includes("metadata.sqlite");
  const walWrites = (isCounted: (path: string) => boolean): number =>
    calls.filter(
      ({ call, path }) => call === "pwrite64" && path.endsWith("-wal") && isCounted(path),
    ).length;
  return {
    run: walWrites(ofRun),
    tenant: walWrites(ofTenant),
    alarms: walWrites((path) => path.includes("metadata.sqlite")),
    syncs: calls.filter(({ call, path }) => call !== "pwrite64" && (ofRun(path) || ofTenant(path)))
      .length,
  };
}
