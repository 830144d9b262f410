import type { Crash, CrashMode } from "../world/scenario.ts";
import type { CrashSite } from "./plant-crashes.ts";

/** Writes of the objects of one class since the last plan, and all their crashes. */
export interface CrashRecord {
  /** Labels of the writes, over all objects and incarnations. Empty before the first plan. */
  readonly points: readonly string[];
  readonly crashes: number;
}

/**
 * A crash that any object of a class may come to. Ownership: module state, which outlives the
 * objects.
 */
export class SharedCrash implements CrashSite {
  #planned: Crash | null | undefined;
  #points: string[] = [];
  #crashes = 0;

  /** Plans a crash at a write from now on, whichever object comes to it. Null: no crash. */
  plan(crash: Crash | null): void {
    this.#planned = crash;
    this.#points = [];
  }

  /** Counts a write. Returns how the object crashes at it. */
  crashAt(label: string): CrashMode | undefined {
    if (this.#planned === undefined) return undefined;
    return this.#points.push(label) === this.#planned?.point ? this.#planned.mode : undefined;
  }

  noteCrash(): void {
    this.#crashes++;
  }

  get record(): CrashRecord {
    return { points: this.#points, crashes: this.#crashes };
  }
}
