import { plantCrashes } from "../../scripts/chaos/worker/plant-crashes.ts";
import { beforeEachFile } from "./fresh-state.ts";

/**
 * Where the next incarnation of an object ends: at one of its durable writes, at the first use of a
 * table, or nowhere.
 */
export interface CrashPlan {
  /** Id of the object. Absent: the next new object. */
  readonly objectId?: string;
  /** Number of the write, from 1. Absent: the writes are only counted. */
  readonly at?: number;
  /** Name of the table at whose first use the object ends. */
  readonly firstUseOf?: string;
  /** Before the write, after it but not durable, or after it is durable. */
  readonly mode: "before" | "after" | "durable";
}

/** What one planned incarnation did. */
export interface PlannedIncarnation {
  readonly points: string[];
  hasCrashed: boolean;
}

const planned: { readonly plan: CrashPlan; readonly incarnation: PlannedIncarnation }[] = [];
beforeEachFile(forgetPlans);

/** Forgets what was planned for incarnations that did not begin. */
export function forgetPlans(): void {
  planned.splice(0);
}

/** Plans the next incarnation of an object. */
export function planIncarnation(plan: CrashPlan): PlannedIncarnation {
  const incarnation = { points: [], hasCrashed: false };
  planned.push({ plan, incarnation });
  return incarnation;
}

/**
 * Plants the planned crash in an object. Contract: call it before the object uses its storage.
 * `isNamed`: only a plan that names the object is meant.
 */
export function plantCrash(ctx: DurableObjectState, { isNamed = false } = {}): void {
  const index = planned.findIndex(
    ({ plan }) => (!isNamed || plan.objectId !== undefined) && isMeant(plan, ctx),
  );
  const [meant] = index < 0 ? [] : planned.splice(index, 1);
  if (!meant) return;
  const { plan, incarnation } = meant;
  plantCrashes(ctx, {
    crashAt: (label) => (incarnation.points.push(label) === plan.at ? plan.mode : undefined),
    crashAtFirstUse: (table) => (table === plan.firstUseOf ? plan.mode : undefined),
    noteCrash: () => {
      incarnation.hasCrashed = true;
    },
  });
}

function isMeant({ objectId }: CrashPlan, { id, storage }: DurableObjectState): boolean {
  if (objectId !== undefined) return objectId === id.toString();
  const tables = "SELECT 1 FROM sqlite_master WHERE name = 'log'";
  return storage.sql.exec(tables).toArray().length === 0;
}
