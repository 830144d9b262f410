import { expect, test } from "vitest";
import { registerContracts } from "../../src/contracts/check/register.ts";
import { bindTools } from "../../src/contracts/bind/tool-source.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import { CORE_TOOLS } from "../../src/core-tools/pack.ts";
import { fakeRunCapabilities, runBound } from "../../src/testing/fakes/fakes.ts";

const titles: string[] = [];
const source = bindTools(registerContracts(CORE_TOOLS), fakeRunCapabilities(titles));

async function run(name: string, args: JsonObject): Promise<unknown> {
  const tool = source.getBoundTool(name, "1.0.0");
  const valid = tool?.validateInput(args);
  if (!tool || !valid?.ok) return valid;
  const done = await runBound(tool, valid.value);
  return done.ok ? tool.validateOutput(done.value) : done;
}

test.each([
  ["Asia/Tokyo", "2026-01-02T12:04:05+09:00", "Friday, 2 January 2026 at 12:04"],
  ["America/New_York", "2026-01-01T22:04:05-05:00", "Thursday, 1 January 2026 at 22:04"],
  ["Asia/Kathmandu", "2026-01-02T08:49:05+05:45", "Friday, 2 January 2026 at 08:49"],
  ["UTC", "2026-01-02T03:04:05+00:00", "Friday, 2 January 2026 at 03:04"],
])("tells the time in %s", async (timeZone, localTime, inWords) => {
  expect(await run("core__get_current_time", { timeZone })).toEqual({
    ok: true,
    value: { timeZone, localTime, inWords },
  });
});

test("a time zone that does not exist is an answer the model can repair", async () => {
  expect(await run("core__get_current_time", { timeZone: "Mars/Olympus" })).toMatchObject({
    ok: false,
    failure: { taxonomyClass: "SEMANTIC_INVALIDITY", errors: [{ field: "/timeZone" }] },
  });
});

test("sets a title of one line in which nothing hides", async () => {
  titles.length = 0;
  await run("core__generate_title", { title: "Pay\u202e\u200b\n\tAnn" });
  expect(titles).toEqual(["Pay Ann"]);
  expect(await run("core__generate_title", { title: "\u200b" })).toMatchObject({ ok: false });
  titles.length = 0;
});

test("sets a title, trimmed", async () => {
  await run("core__generate_title", { title: "  Hello  " });
  expect(titles).toEqual(["Hello"]);
  expect(await run("core__generate_title", { title: "   " })).toMatchObject({ ok: false });
});

test.each([
  ["1 + 2 * 3", 7],
  ["(480 * 12.5) / 100", 60],
  ["2 ^ 3 ^ 2", 512],
  ["-(2 ^ 2)", -4],
  ["pow(-2, 2)", 4],
  ["(-2) ^ 2", 4],
  ["2 ^ -1 - -3", 3.5],
  ["8 / 2 / 2 - 1 - 1", 0],
  ["10 % 4", 2],
  ["sqrt(2) * sqrt(2) - 2 < 1", undefined],
  ["max(1, 2, min(9, 3))", 3],
  ["2 * pi", 2 * Math.PI],
  ["1e3 + .5", 1000.5],
])("computes %s", async (expression, result) => {
  const answer = await run("core__calculate", { expression });
  if (result === undefined) expect(answer).toMatchObject({ ok: false });
  else expect(answer).toEqual({ ok: true, value: { expression, result } });
});

test.each([
  "-2^2",
  "1 / 0",
  "sqrt(-1)",
  "",
  "1 2",
  "2pi",
  "0x10",
  "1 +",
  "(1",
  "max(1, 2",
  "max(1, , 2)",
  "pi()",
  "~1",
  "2 ** 3",
  "1,2",
  "x",
  "'a'",
  "true",
  "this",
  "[1]",
  "constructor",
  "__proto__",
  "max.constructor('return 1')()",
  "max['constructor']",
  "pow.call(2)",
  "constructor('x')",
  "toString()",
  "a = 1",
  "(() => 1)()",
  "`x`",
  "process.exit()",
  "max()",
  "pow(1)",
])("refuses %j", async (expression) => {
  expect(await run("core__calculate", { expression })).toMatchObject({ ok: false });
});

test("deep nesting within the length limit is computed, not crashed on", async () => {
  const expression = `${"(".repeat(120)}1${")".repeat(120)}`;
  expect(await run("core__calculate", { expression })).toMatchObject({
    ok: true,
    value: { result: 1 },
  });
});
