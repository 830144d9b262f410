import type { CrashMode } from "../world/scenario.ts";
import { crashStorage } from "./crash-storage.ts";

/** Decides at each durable write of an object whether the object crashes there. */
export interface CrashSite {
  /** Is told of each write before it happens. Undefined: the object does not crash at it. */
  readonly crashAt: (label: string) => CrashMode | undefined;
  /** Is told of each table before it is created. A crash after it waits for the commit. */
  readonly crashAtFirstUse?: (table: string) => CrashMode | undefined;
  /** Is told right before the object crashes. */
  readonly noteCrash: () => void;
}

/**
 * Replaces an object's storage by one that can crash the object at a write. Contract: call it
 * before the object uses its storage.
 */
export function plantCrashes(ctx: DurableObjectState, site: CrashSite): void {
  const { storage } = ctx;
  const end = (): never => {
    site.noteCrash();
    ctx.abort("chaos");
    throw new Error("an aborted object goes on");
  };
  let atCommit: CrashMode | undefined;
  const atFirstUse = (table: string): void => {
    const mode = site.crashAtFirstUse?.(table);
    if (mode === "before") end();
    atCommit ??= mode;
  };
  const atPoint = <T>(label: string, write: () => T): T => {
    const planned = site.crashAt(label);
    if (planned === "before") return end();
    const written = write();
    const mode = planned ?? atCommit;
    if (mode === undefined) return written;
    if (mode === "after") return end();
    void storage.sync().then(end);
    return written;
  };
  // The platform accepts no substitute for the state itself, but its storage is a plain property.
  Object.defineProperty(ctx, "storage", { value: crashStorage(storage, atPoint, atFirstUse) });
}
