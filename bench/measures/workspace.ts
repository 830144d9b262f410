import { bundleContender } from "../contenders/bundle.ts";
import { startContender } from "../contenders/start.ts";
import { takeTurns, type Bench, type Figure } from "../measure.ts";
import { median, quantile } from "../statistics.ts";

const WRITES = 200;

/** Measures a write through a workspace, beside a call of a bare object for the same row. */
export async function measureWorkspace({ plans, quick }: Bench): Promise<readonly Figure[]> {
  const { interlock } = plans;
  const worker = await startContender({
    ...interlock,
    code: await bundleContender("workspace-worker.ts"),
    objects: { ...interlock.objects, WORKSPACES: "WorkspaceObject", RAW: "RawObject" },
  });
  try {
    const samples = { workspace: [] as number[], raw: [] as number[] };
    const visit = async (name: keyof typeof samples, round: number): Promise<void> => {
      const startMs = performance.now();
      const init = { method: "POST" };
      const answer = await fetch(`http://127.0.0.1:${worker.port}/${name}/${WRITES}`, init);
      if (answer.status !== 200) throw new Error(`${name}: ${await answer.text()}`);
      await answer.arrayBuffer();
      // The first round creates the tables and reads the program from the disk.
      if (round > 0) samples[name].push((performance.now() - startMs) / WRITES);
    };
    await takeTurns(["workspace", "raw"] as const, 1 + (quick ? 3 : 15), visit);
    const ratios = samples.workspace.map((value, round) => value / (samples.raw[round] ?? NaN));
    return [
      {
        name: "a write through a workspace",
        unit: "ms",
        raw: { interlock: median(samples.workspace), direct: median(samples.raw) },
        ratio: {
          to: "a bare object",
          value: median(ratios),
          atMost: 1.5,
          range: [quantile(ratios, 0.1), quantile(ratios, 0.9)],
        },
      },
    ];
  } finally {
    await worker.stop();
  }
}
