import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ok } from "../../src/protocol/outcome/result.ts";
import { FairLock } from "../../src/runner/fair-lock.ts";
import { benchFor, drainPromises } from "../../src/testing/fakes/runner-ports.ts";
import { noteTool, readTool } from "../shared/tools.ts";

test("parallel tools of a step run together, and other tools run alone and in order", async () => {
  const log: string[] = [];
  const gates = new Map<string, () => void>();
  const slow = (name: string) => () => {
    log.push(`+${name}`);
    return new Promise((resolve) =>
      gates.set(name, () => {
        log.push(`-${name}`);
        resolve(ok({ text: name }));
      }),
    );
  };
  const { tool: read } = readTool([slow("r1"), slow("r2"), slow("r3")]);
  const { tool: note } = noteTool({ execute: slow("w") });
  const { call } = benchFor([read, note]);
  const calls = [
    call("test__read", {}, { step: 1, id: "a" }),
    call("test__read", {}, { step: 1, id: "b" }),
    call("test__note", { text: "x" }, { step: 1, id: "c" }),
    call("test__read", {}, { step: 1, id: "d" }),
  ];
  await drainPromises();
  expect(log).toEqual(["+r1", "+r2"]);
  gates.get("r1")?.();
  await drainPromises();
  expect(log).toEqual(["+r1", "+r2", "-r1"]);
  gates.get("r2")?.();
  await drainPromises();
  expect(log.slice(3)).toEqual(["-r2", "+w"]);
  gates.get("w")?.();
  await drainPromises();
  expect(log.slice(5)).toEqual(["-w", "+r3"]);
  gates.get("r3")?.();
  const results = await Promise.all(calls);
  expect(results.map(({ value }) => value?.["text"])).toEqual(["r1", "r2", "w", "r3"]);
});

test("the lock admits in order, and only shared holders hold it together", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 40 }), async (kinds) => {
      const lock = new FairLock();
      const admitted: number[] = [];
      const inside = new Set<number>();
      const tasks = kinds.map(async (isShared, index) => {
        const giveBack = await lock.acquire(isShared);
        admitted.push(index);
        inside.add(index);
        for (const other of inside) {
          if (other !== index) expect(isShared && kinds[other]).toBe(true);
        }
        await Promise.resolve();
        inside.delete(index);
        giveBack?.();
        giveBack?.();
      });
      await Promise.all(tasks);
      expect(admitted).toEqual(kinds.map((_kind, index) => index));
    }),
  );
});

test("the latency of a call excludes its wait for the lock", async () => {
  const { tool } = noteTool({ execute: () => new Promise((resolve) => open.push(resolve)) });
  const open: ((value: unknown) => void)[] = [];
  const { call, clock } = benchFor([tool]);
  const calls = [call("test__note", { text: "a" }), call("test__note", { text: "b" })];
  await drainPromises();
  clock.advance(700);
  open[0]?.(ok({ text: "a" }));
  await drainPromises();
  clock.advance(40);
  open[1]?.(ok({ text: "b" }));
  const results = await Promise.all(calls);
  const latencies = results.map(({ observation }) => observation.execution_metadata.latency_ms);
  expect(latencies).toEqual([700, 40]);
});
