import { bundleContender } from "../contenders/bundle.ts";
import { startContender } from "../contenders/start.ts";
import { takeTurns, type Bench, type Figure } from "../measure.ts";
import { median, quantile } from "../statistics.ts";

const READS = 20;

/** A read at two sizes of a project, and at the larger one by SQL alone. */
const READ = {
  list: {
    title: "the first 100 of 10,000 systems",
    small: 1_000,
    large: 10_000,
    // An index gives the page; counting all systems grows with them.
    growth: 2,
  },
  graph: {
    title: "the first 200 of a graph of 2,000 systems",
    small: 1_000,
    large: 2_000,
    // The order needs the whole graph, so a page is linear in it.
    growth: 2.4,
  },
} as const;

/** Measures reads of large projects, beside a bare object that reads the same rows. */
export async function measureGameplan({ plans, quick }: Bench): Promise<readonly Figure[]> {
  const { interlock } = plans;
  const worker = await startContender({
    ...interlock,
    code: await bundleContender("gameplan-worker.ts"),
    objects: { ...interlock.objects, WORKSPACES: "WorkspaceObject", RAW: "RawObject" },
  });
  const ask = async (path: string): Promise<number> => {
    const startMs = performance.now();
    const answer = await fetch(`http://127.0.0.1:${worker.port}/${path}`, { method: "POST" });
    if (answer.status !== 200) throw new Error(`${path}: ${await answer.text()}`);
    await answer.arrayBuffer();
    return performance.now() - startMs;
  };
  const measure = async (name: keyof typeof READ): Promise<readonly Figure[]> => {
    const { title, small, large, growth } = READ[name];
    const paths = {
      large: `${name}/workspace/${large}/${READS}`,
      small: `${name}/workspace/${small}/${READS}`,
      raw: `${name}/raw/${large}/${READS}`,
    };
    type Kind = keyof typeof paths;
    const samples: Record<Kind, number[]> = { large: [], small: [], raw: [] };
    await takeTurns(Object.keys(paths) as Kind[], 1 + (quick ? 3 : 15), async (kind, round) => {
      const ms = (await ask(paths[kind])) / READS;
      // The first round reads the program from the disk.
      if (round > 0) samples[kind].push(ms);
    });
    const ratioTo = (kind: Kind, to: string, atMost: number): NonNullable<Figure["ratio"]> => {
      const ratios = samples.large.map((value, round) => value / (samples[kind][round] ?? NaN));
      const range = [quantile(ratios, 0.1), quantile(ratios, 0.9)] as const;
      return { to, value: median(ratios), atMost, range };
    };
    const raw = { interlock: median(samples.large), direct: median(samples.raw) };
    const smaller = `the same with ${small.toLocaleString("en")}`;
    return [
      { name: title, unit: "ms", raw, ratio: ratioTo("raw", "a bare object", 3) },
      { name: title, unit: "ms", raw, ratio: ratioTo("small", smaller, growth) },
    ];
  };
  try {
    for (const systems of new Set(
      Object.values(READ).flatMap((read) => [read.small, read.large]),
    )) {
      await ask(`seed/workspace/${systems}`);
      await ask(`seed/raw/${systems}`);
    }
    return [...(await measure("list")), ...(await measure("graph"))];
  } finally {
    await worker.stop();
  }
}
