import { expect, test } from "vitest";
import { bundleWithoutGamePlan } from "../../../../scripts/pack-bundle.ts";
import { bundleWithoutWire } from "../../../../scripts/wire-bundles.ts";

const OF_WORKSPACES = /^(?:apps\/gameplan|src\/workspace|durable-objects\/workspace)\//;
const countIn = (files: readonly string[]): number =>
  files.filter((file) => OF_WORKSPACES.test(file)).length;

test("a deployment that does not name GamePlan carries neither the pack nor workspaces", async () => {
  const whole = await bundleWithoutWire();
  const base = await bundleWithoutGamePlan();
  expect(countIn(whole.files)).toBeGreaterThan(60);
  expect(countIn(base.files)).toBe(0);
  expect(base.compressedBytes).toBeLessThan(whole.compressedBytes - 20_000);
});
