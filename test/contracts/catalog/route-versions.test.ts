import { describe, expect, test } from "vitest";
import { defineTool } from "../../../src/contracts/define/define-tool.ts";
import { registerContracts } from "../../../src/contracts/check/register.ts";
import { compareVersions, routeVersions } from "../../../src/contracts/catalog/route-versions.ts";
import { bindTools } from "../../../src/contracts/bind/tool-source.ts";
import type { AnyToolContract } from "../../../src/contracts/define/definition.ts";
import { createToolCatalog, findTool } from "../../../src/contracts/catalog/tool-catalog.ts";
import { isSunset } from "../../../src/protocol/tool/lifecycle.ts";
import type { ToolSpec } from "../../../src/protocol/tool/spec.ts";
import { fakeRunCapabilities, policyOf } from "../../../src/testing/fakes/fakes.ts";
import { sound } from "../definitions.ts";
import { USER } from "../tool-user.ts";

const NOW = Date.UTC(2026, 0, 31);
const DAY = 86_400_000;

type Status = "active" | "deprecated" | "sunsetted";

const define = (version: string, status: Status = "active", sunsetDate?: string): AnyToolContract =>
  defineTool({
    ...sound,
    version,
    lifecycle: {
      status,
      sunsetDate: sunsetDate ?? (status === "active" ? null : "2026-02-01"),
      replacement: null,
    },
  });

interface Routed {
  readonly entry?: object;
  readonly runKey?: string;
  readonly nowMs?: number;
}

const registered = new WeakMap<readonly AnyToolContract[], readonly ToolSpec[]>();

/** Registers a list of contracts once, because a test routes thousands of runs over one. */
function specsOf(contracts: readonly AnyToolContract[]): readonly ToolSpec[] {
  const specs = registered.get(contracts) ?? registerContracts(contracts).map(({ spec }) => spec);
  registered.set(contracts, specs);
  return specs;
}

function route(
  contracts: readonly AnyToolContract[],
  { entry = {}, runKey, nowMs = NOW }: Routed = {},
): string | undefined {
  const policy = policyOf({ allowedTools: [{ id: sound.name, ...entry }] });
  const routing = { nowMs, ...(runKey !== undefined && { runKey }) };
  return routeVersions(specsOf(contracts), policy, routing).get(sound.name)?.version;
}

const [v1, v1_9, v1_10, v2] = [define("1.0.0"), define("1.9.0"), define("1.10.0"), define("2.0.0")];
const oldV1 = define("1.0.0", "deprecated");
const goneV3 = define("3.0.0", "sunsetted");

test("the newest active version is used, number by number", () => {
  expect(route([v1_9, v1_10, v1])).toBe("1.10.0");
  expect(route([v1_10, v1_9])).toBe("1.10.0");
  expect(compareVersions("10.0.0", "9.9.9")).toBeGreaterThan(0);
  expect(compareVersions("1.2.3", "1.2.3")).toBe(0);
});

test("a deprecated version is used when nothing is active, and not before", () => {
  expect(route([define("2.0.0", "deprecated"), v1])).toBe("1.0.0");
  expect(route([oldV1, define("1.1.0", "deprecated")])).toBe("1.1.0");
});

test("a deprecated version is used when policy asks for it", () => {
  expect(route([oldV1, v2], { entry: { versions: ["1.0.0"] } })).toBe("1.0.0");
});

test("policy's order beats age", () => {
  expect(route([v1, v1_9, v2], { entry: { versions: ["1.9.0", "2.0.0"] } })).toBe("1.9.0");
});

test("a version that policy lists and nobody registered is passed over", () => {
  expect(route([v1, v2], { entry: { versions: ["9.0.0", "1.0.0"] } })).toBe("1.0.0");
});

test("a tool of which policy lists unknown versions alone is left out", () => {
  expect(route([v1, v2], { entry: { versions: ["9.0.0"] } })).toBeUndefined();
});

test("a version runs up to its sunset date and not on it", () => {
  const contracts = [oldV1];
  const midnight = Date.UTC(2026, 1, 1);
  expect(route(contracts, { nowMs: midnight - 1 })).toBe("1.0.0");
  expect(route(contracts, { nowMs: midnight })).toBeUndefined();
  const pinned = { entry: { versions: ["1.0.0"] } };
  expect(route(contracts, { ...pinned, nowMs: midnight })).toBeUndefined();
});

test("a version with an announced end is active until then", () => {
  const ending = define("2.0.0", "active", "2026-02-01");
  expect(route([v1, ending])).toBe("2.0.0");
  expect(route([v1, ending], { nowMs: NOW + DAY })).toBe("1.0.0");
});

test("a sunsetted version runs no more, before its date and whatever policy lists", () => {
  expect(route([v1, goneV3])).toBe("1.0.0");
  expect(route([goneV3], { entry: { versions: ["3.0.0"] } })).toBeUndefined();
});

test("a sunset date that cannot be read has passed", () => {
  const lifecycle = { status: "active", sunsetDate: "soon", replacement: null } as const;
  expect(isSunset(lifecycle, NOW)).toBe(true);
});

describe("a canary", () => {
  const contracts = [v1, v2];
  const keys = Array.from({ length: 5000 }, (_, index) => `run_${index}`);
  const shareOf = (percent: number, version = "2.0.0"): number => {
    const entry = { canary: { version, percent } };
    const routed = keys.map((runKey) => route(contracts, { entry, runKey }));
    return routed.filter((got) => got === version).length / keys.length;
  };

  test.each([1, 10, 50, 90])("gets %d percent of the runs", (percent) => {
    expect(Math.abs(shareOf(percent) - percent / 100)).toBeLessThan(0.02);
  });

  test("gets no run at 0 percent and every run at 100", () => {
    expect(shareOf(0)).toBe(0);
    expect(shareOf(100)).toBe(1);
  });

  test("may be an older version", () => {
    expect(Math.abs(shareOf(25, "1.0.0") - 0.25)).toBeLessThan(0.02);
  });

  test("is the same for a run each time", () => {
    const entry = { canary: { version: "2.0.0", percent: 50 } };
    for (const runKey of keys.slice(0, 50)) {
      const first = route(contracts, { entry, runKey });
      expect(route(contracts.toReversed(), { entry, runKey, nowMs: NOW + 1 })).toBe(first);
    }
  });

  test("keeps its runs when its share grows", () => {
    const isCanary = (runKey: string, percent: number): boolean =>
      route(contracts, { entry: { canary: { version: "2.0.0", percent } }, runKey }) === "2.0.0";
    const early = keys.filter((runKey) => isCanary(runKey, 10));
    expect(early.every((runKey) => isCanary(runKey, 30))).toBe(true);
  });

  test("is bound beside the versions that policy lists", () => {
    const entry = { versions: ["1.0.0"], canary: { version: "2.0.0", percent: 100 } };
    expect(route([v1, v1_9, v2], { entry, runKey: "run_1" })).toBe("2.0.0");
    const none = { ...entry, canary: { version: "2.0.0", percent: 0 } };
    expect(route([v1, v1_9, v2], { entry: none, runKey: "run_1" })).toBe("1.0.0");
  });

  test("gets nothing where there is no run", () => {
    expect(route(contracts, { entry: { canary: { version: "2.0.0", percent: 100 } } })).toBe(
      "1.0.0",
    );
  });

  test("that is unknown or gone gets nothing", () => {
    for (const version of ["9.0.0", "3.0.0"]) {
      const entry = { canary: { version, percent: 100 } };
      expect(route([v1, goneV3], { entry, runKey: "run_1" })).toBe("1.0.0");
    }
  });

  test("gets every run when no other version is left", () => {
    const entry = { canary: { version: "2.0.0", percent: 1 } };
    expect(keys.slice(0, 100).every((runKey) => route([v2], { entry, runKey }) === "2.0.0")).toBe(
      true,
    );
  });
});

test("a catalog shows each tool once, in the version of the run", () => {
  const specs = specsOf([v1, v2, define("1.5.0")]);
  const policy = policyOf({ allowedTools: [{ id: sound.name, versions: ["1.5.0", "1.0.0"] }] });
  const { tools } = createToolCatalog(specs, policy, { nowMs: NOW, user: USER });
  expect([...tools.values()].map(({ version }) => version)).toEqual(["1.5.0"]);
});

test("a source binds every version by its own id, and no other", () => {
  const source = bindTools(
    registerContracts([v1, v2, define("0.9.0", "deprecated")]),
    fakeRunCapabilities(),
  );
  expect(source.getBoundTool(sound.name, "2.0.0")?.version).toBe("2.0.0");
  expect(source.getBoundTool(sound.name, "9.9.9")).toBeUndefined();
  expect(source.getBoundTool("test__other", "1.0.0")).toBeUndefined();
  expect(source.getBoundTool(sound.name, "0.9.0")?.lifecycle).toEqual({
    status: "deprecated",
    sunsetDate: "2026-02-01",
    replacement: null,
  });
});

test("a version that is asked for by its number is not found once its time has come", () => {
  const specs = specsOf([define("1.0.0", "deprecated"), define("2.0.0")]);
  const policy = policyOf({ allowedTools: [sound.name] });
  const find = (version: string, nowMs: number) =>
    findTool(specs, policy, { toolId: sound.name, version, nowMs })?.version;
  expect(find("1.0.0", NOW)).toBe("1.0.0");
  expect(find("1.0.0", NOW + DAY)).toBeUndefined();
  expect(find("2.0.0", NOW + DAY)).toBe("2.0.0");
});
