import { expect, test } from "vitest";
import { refusalOf, startOf, type Change } from "../refusal.ts";

const sunset = (sunsetDate: string | null, status = "deprecated"): Change => ({
  lifecycle: { status, sunsetDate, replacement: null },
});

test.each<[string, Change, string]>([
  ["no redaction", { redaction: undefined }, "redaction: "],
  ["redaction of the output alone", { redaction: { output: [] } }, "redaction.args: "],
  ["a name without a namespace", { name: "sound" }, "name: must be <namespace>__<tool>"],
  ["a name with nothing before __", { name: "__sound" }, "name: must be <namespace>__<tool>"],
  ["a name with nothing after __", { name: "test__" }, "name: must be <namespace>__<tool>"],
  ["a name with a dot", { name: "test__so.und" }, "name: must be"],
  ["a name over 64 characters", { name: `test__${"x".repeat(59)}` }, "at most 64 characters"],
  ["a version of two numbers", { version: "1.0" }, "version: must be three numbers"],
  ["a version with a suffix", { version: "1.0.0-beta" }, "version: must be three numbers"],
  ["a version with a leading zero", { version: "1.02.0" }, "version: must be three numbers"],
  ["an empty description", { description: "  " }, "description: must not be empty"],
  ["a description too long", { description: "x".repeat(1025) }, "description: must have at most"],
  ...["", " Pay", "Pay\nnow", "Pay\u202enow", "Pay\u200bnow", "x".repeat(65)].map(
    (title): [string, { title: string }, string] => [
      `the title ${JSON.stringify(title)}`,
      { title },
      "title: ",
    ],
  ),
  ["a category of several words", { category: "my tools" }, "category: "],
  ["an empty use case", { allowedUseCases: [""] }, "allowedUseCases.0: must not be empty"],
  ["an unknown field", { timeoutMs: 5 }, "timeoutMs: "],
  ["an unknown field in a section", { runtime: { timeout: 5 } }, "runtime.timeout: "],
  ["an unknown class", { sideEffectClass: "HARMLESS" }, "no side-effect class HARMLESS"],
  ["an unknown effect", { effect: "none" }, "effect: "],
  ["an unknown capability", { capabilities: ["fetch"] }, "capabilities.0: "],
  [
    "an example that is no object",
    { examples: [{ description: "Wrong.", arguments: "a" }] },
    "examples.0.arguments: must be a JSON object",
  ],
  ["a day that does not exist", sunset("2027-02-29"), "lifecycle.sunsetDate: must be a day"],
  ["a day with a time", sunset("2027-02-28T00:00:00Z"), "lifecycle.sunsetDate: must be a day"],
  ["no day at all", sunset("soon"), "lifecycle.sunsetDate: must be a day"],
  ["an unknown status", sunset("2027-02-28", "retired"), "lifecycle.status: "],
  [
    "a replacement that is no tool",
    { lifecycle: { status: "active", sunsetDate: null, replacement: "other" } },
    "lifecycle.replacement: must be",
  ],
  ["an error of an unknown class", { errors: { gone: "GONE" } }, "errors.gone: "],
  ["an error that is success", { errors: { fine: "SUCCESS" } }, "errors.fine: "],
  ["no time at all", { runtime: { timeoutMs: 0 } }, "runtime.timeoutMs: "],
  ["more than five minutes", { runtime: { timeoutMs: 300_001 } }, "runtime.timeoutMs: "],
  ["half a retry", { runtime: { maxRetries: 0.5 } }, "runtime.maxRetries: "],
  ["a negative retry", { runtime: { maxRetries: -1 } }, "runtime.maxRetries: "],
  ["more than ten retries", { runtime: { maxRetries: 11 } }, "runtime.maxRetries: "],
  [
    "no requests",
    { runtime: { rateLimit: { windowSeconds: 1, maxRequests: 0 } } },
    "runtime.rateLimit.maxRequests: ",
  ],
  [
    "no window",
    { runtime: { rateLimit: { windowSeconds: 0, maxRequests: 1 } } },
    "runtime.rateLimit.windowSeconds: ",
  ],
  [
    "a negative cost",
    { runtime: { cost: { currency: "EUR", perCall: -1, unit: "call" } } },
    "runtime.cost.perCall: ",
  ],
  [
    "an infinite cost",
    { runtime: { cost: { currency: "EUR", perCall: Infinity, unit: "call" } } },
    "runtime.cost.perCall: ",
  ],
  [
    "an unknown currency",
    { runtime: { cost: { currency: "euro", perCall: 1, unit: "call" } } },
    "runtime.cost.currency: ",
  ],
  ["no room for arguments", { runtime: { maxArgumentsBytes: 0 } }, "runtime.maxArgumentsBytes: "],
  [
    "arguments beyond 256 KiB",
    { runtime: { maxArgumentsBytes: 262_145 } },
    "runtime.maxArgumentsBytes: must be at most 262144",
  ],
  [
    "results beyond 256 KiB",
    { runtime: { maxResultBytes: 262_145 } },
    "runtime.maxResultBytes: must be at most 262144",
  ],
  ["a header that is none", { idempotency: { keyHeader: "a b" } }, "idempotency.keyHeader: "],
  ["a key that never lives", { idempotency: { ttlSeconds: 0 } }, "idempotency.ttlSeconds: "],
  ["an execute that is no function", { execute: "rm" }, "execute: "],
])("refuses a contract with %s", (_name, change, reason) => {
  const refusal = refusalOf(change);
  expect(refusal).toContain(reason);
  expect(refusal).toContain(startOf(change));
});
