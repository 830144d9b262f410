import { planDeployment } from "./host/deployment.ts";
import { Operator } from "./people/operator.ts";
import type { PartContext, PartResult } from "./part.ts";
import { startWorld } from "./world/world.ts";

/** Works in several lanes at once, each with its own world, and adds up their results. */
export async function inLanes(
  context: PartContext,
  count: number,
  work: (context: PartContext, lane: number) => Promise<PartResult>,
): Promise<PartResult> {
  const ended = await Promise.allSettled(
    Array.from({ length: count }, async (_, lane) => {
      const world = await startWorld();
      try {
        const deployment = planDeployment(context.deployment.code, world.url);
        const operator = new Operator(world, context.seed);
        return await work({ ...context, world, deployment, operator }, lane);
      } finally {
        await world.stop();
      }
    }),
  );
  const broken = ended.find((end) => end.status === "rejected");
  if (broken) throw broken.reason;
  const results = ended.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
  const counts: Record<string, number> = {};
  for (const [what, amount] of results.flatMap((result) => Object.entries(result.counts))) {
    counts[what] = (counts[what] ?? 0) + amount;
  }
  return { counts, failures: results.flatMap(({ failures }) => failures) };
}
