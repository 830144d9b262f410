import { readdirSync, readFileSync } from "node:fs";

/** Length of a tick in /proc. It does not depend on the rate of the kernel. */
const TICK_MS = 10;

/** Reads the processor time of a process: all threads, user and kernel time. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name in parentheses may contain spaces. The fields after it do not. See proc_pid_stat(5).
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** The same to the nanosecond, for short times. Threads that have ended do not count. */
export function threadsMs(pid: number): number {
  const times = readdirSync(`/proc/${pid}/task`).map((thread) => {
    const [ns] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ");
    return Number(ns);
  });
  return times.reduce((sum, ns) => sum + ns, 0) / 1e6;
}

/** Resident memory of a process. Unit: KiB. */
export interface Resident {
  readonly rssKib: number;
  /** Pages shared with other processes count by their share. */
  readonly pssKib: number;
}

export function resident(pid: number): Resident {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const read = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(rollup)?.[1]);
  return { rssKib: read("Rss"), pssKib: read("Pss") };
}

/** Lists the direct children of a process. */
export function childrenOf(pid: number): readonly number[] {
  const list = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return list.split(" ").flatMap((child) => (child.trim() === "" ? [] : Number(child)));
}
