import type { Host } from "./hosts.ts";
import { sleep } from "../sleep.ts";
import type { World } from "../world/world.ts";

/** Instants around one effect: its request is there, it has happened, its answer is on the way. */
export const INSTANTS = ["asked", "done", "answered"] as const;

/** The instant of one effect, from 1, at which the processes of a host are killed. */
export interface KillPlan {
  readonly effect: number;
  readonly instant: (typeof INSTANTS)[number];
}

/** From an effect to the writes that store its outcome. Unit: milliseconds. */
const ANSWERED_AFTER_MS = 8;
/** Kills without the planned effect. Unit: milliseconds. */
const LATEST_KILL_MS = 3_000;

/**
 * Kills a host once an effect comes to an instant, and starts it again on its stored state. Without
 * such an effect it kills a little later. Returns whether the instant came.
 */
export async function killAtEffect(
  world: Pick<World, "listen">,
  host: Host,
  { effect, instant }: KillPlan,
): Promise<boolean> {
  const awaited = instant === "asked" ? "effect_asked" : "effect_done";
  let left = effect;
  const hasCome = await new Promise<boolean>((resolve) => {
    const kill = (reason: boolean): void => {
      clearTimeout(timer);
      ignore();
      host.kill();
      resolve(reason);
    };
    const timer = setTimeout(() => kill(false), LATEST_KILL_MS);
    const ignore = world.listen((moment) => {
      if (moment !== awaited || --left > 0) return;
      if (instant !== "answered") kill(true);
      else if (left === 0) void sleep(ANSWERED_AFTER_MS).then(() => kill(true));
    });
  });
  await restart(host);
  return hasCome;
}

/** Kills a host after some time, and starts it again on its stored state. Unit: milliseconds. */
export async function killAfter(host: Host, delayMs: number): Promise<void> {
  await sleep(delayMs);
  host.kill();
  await restart(host);
}

async function restart(host: Host): Promise<void> {
  await host.gone();
  await host.start();
}
