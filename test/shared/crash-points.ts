import { crashStorage } from "../../scripts/chaos/worker/crash-storage.ts";

/** Where the next incarnation of an object ends: at one of its durable writes, or nowhere. */
export interface CrashPlan {
  /** Id of the object. Absent: the next new object. */
  readonly objectId?: string;
  /** Number of the write, from 1. Absent: the writes are only counted. */
  readonly at?: number;
  /** Before the write, after it but not durable, or after it is durable. */
  readonly mode: "before" | "after" | "durable";
}

/** What one planned incarnation did. */
export interface PlannedIncarnation {
  readonly points: string[];
  hasCrashed: boolean;
}

const planned: { readonly plan: CrashPlan; readonly incarnation: PlannedIncarnation }[] = [];

/** Plans the next incarnation of an object. */
export function planIncarnation(plan: CrashPlan): PlannedIncarnation {
  const incarnation = { points: [], hasCrashed: false };
  planned.push({ plan, incarnation });
  return incarnation;
}

/** Plants the planned crash in an object. Contract: call it before the object uses its storage. */
export function plantCrash(ctx: DurableObjectState): void {
  const { storage } = ctx;
  const index = planned.findIndex(({ plan }) => isMeant(plan, ctx));
  const [meant] = index < 0 ? [] : planned.splice(index, 1);
  if (!meant) return;
  const { plan, incarnation } = meant;
  const end = (): never => {
    incarnation.hasCrashed = true;
    ctx.abort("crash");
    throw new Error("an aborted object goes on");
  };
  const atPoint = <T>(label: string, write: () => T): T => {
    const isHere = incarnation.points.push(label) === plan.at;
    if (!isHere) return write();
    if (plan.mode === "before") return end();
    const written = write();
    if (plan.mode === "after") return end();
    void storage.sync().then(end);
    return written;
  };
  // The platform takes no stand-in for the state itself, but its storage is a plain property.
  Object.defineProperty(ctx, "storage", { value: crashStorage(storage, atPoint) });
}

function isMeant({ objectId }: CrashPlan, { id, storage }: DurableObjectState): boolean {
  if (objectId !== undefined) return objectId === id.toString();
  const tables = "SELECT 1 FROM sqlite_master WHERE name = 'run'";
  return storage.sql.exec(tables).toArray().length === 0;
}
