import { TOKENS } from "../host/deployment.ts";
import { withHost } from "../host/hosts.ts";
import { inFlight } from "../in-flight.ts";
import { readIncarnations } from "../host/incarnations.ts";
import { wildScript } from "../world/make-script.ts";
import type { Part } from "../part.ts";
import { seededRandom } from "../seeded-random.ts";
import { Tally } from "../verify/tally.ts";
import { crashTenantAtRandom } from "../host/shared-crashes.ts";

const RUNS = 1_000;
const SHORT_RUNS = 16;
/** Crashes of one run at most. After the second crash, recovery backs off. */
const MAX_CRASHES = 3;
const SHORT_MAX_CRASHES = 1;
/** Many runs mostly wait, so many run at once. */
const RUNS_AT_ONCE = 48;

/** Runs random scripts under random crashes, failing tools and failing providers. */
export const storm: Part = {
  name: "storm",
  claim: "ends, 500s, 429s, timeouts and disconnects at random leave nothing hanging or doubled",
  async run(context) {
    const { seed, isShort, progress } = context;
    const tally = new Tally(context);
    return withHost(context, async (host) => {
      const target = { url: host.url, token: TOKENS.chaos };
      const maxCrashes = isShort ? SHORT_MAX_CRASHES : MAX_CRASHES;
      const numbers = Array.from({ length: isShort ? SHORT_RUNS : RUNS }, (_, number) => number);
      let isOver = false;
      const random = seededRandom(seed, "storm tenant");
      const runs = inFlight(RUNS_AT_ONCE, numbers, async (number) => {
        if (tally.isFull) return;
        const id = `storm-${seed}-${number}`;
        const script = wildScript(id, seededRandom(seed, id), maxCrashes);
        await tally.carry(target, script, { name: id, mustSucceed: false });
        const incarnations = await readIncarnations(target.url, id);
        tally.count("crashes", incarnations.filter(({ crashed }) => crashed).length);
        progress.show(`storm: run ${number} of ${numbers.length}`);
      }).finally(() => (isOver = true));
      const crashing = crashTenantAtRandom(host.url, random, () => isOver);
      const [tenantCrashes] = await Promise.all([crashing, runs]);
      tally.count("tenant crashes", tenantCrashes);
      return await tally.close(target);
    });
  },
};
