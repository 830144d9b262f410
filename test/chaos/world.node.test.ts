import { expect, test } from "vitest";
import { startWorld } from "../../scripts/chaos/world/world.ts";

test("the world is settled only after the requests under way have had their effects", async () => {
  const world = await startWorld();
  try {
    const arrived = Promise.withResolvers<void>();
    world.listen((moment) => {
      if (moment === "effect_asked") arrived.resolve();
    });
    const asked = fetch(`${world.url}/effects`, {
      method: "POST",
      headers: { "idempotency-key": "key" },
      body: JSON.stringify({
        effectClass: "unreconciled",
        operation: 0,
        fault: "slow",
        runId: "r",
      }),
    });
    await arrived.promise;
    expect(world.effects.stateOf("key")).toBe("pending");
    await world.settled();
    expect(world.effects.stateOf("key")).toBe("committed");
    await (await asked).arrayBuffer();
  } finally {
    await world.stop();
  }
});
