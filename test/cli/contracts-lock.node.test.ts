import { describe, expect, test } from "vitest";
import { formatLock, parseLock, toLock } from "../../cli/contracts/lock/contract-lock.ts";
import type { PublishedContract } from "../../src/contracts/catalog/published-contract.ts";
import { mergeLocks, reviewLock } from "../../cli/contracts/lock/review-lock.ts";
import { countFindings, formatFindings } from "../../cli/contracts/lock/format-findings.ts";
import { PUBLISHED, versioned, withValue } from "./published.ts";

const TIMEOUT = "/contract/runtime/timeout_ms";

describe("the lock", () => {
  const FILE = "bank__transfer@1.0.0.json";
  const textOf = (...contracts: PublishedContract[]): string =>
    JSON.stringify([...formatLock(toLock(contracts))]);

  test("has a file for each version, with its keys in order, and parts named by their hash", () => {
    const other = withValue(PUBLISHED, "/contract/identity/name", "atlas__find");
    const files = formatLock(toLock([versioned("10.0.0"), versioned("9.0.0"), other]));
    const own = [...files.keys()].filter((path) => !path.startsWith("parts/"));
    expect(own).toEqual([
      "atlas__find@1.0.0.json",
      "bank__transfer@9.0.0.json",
      "bank__transfer@10.0.0.json",
    ]);
    const text = files.get("atlas__find@1.0.0.json") ?? "";
    expect(text.indexOf('"affordance"')).toBeLessThan(text.indexOf('"identity"'));
    expect(text.endsWith("}\n")).toBe(true);
    for (const [, hash] of text.matchAll(/"\$part": "(\w+)"/g)) {
      expect(files.has(`parts/${hash}.json`)).toBe(true);
    }
  });

  test("is the same text for every order of contracts and fields", () => {
    const { contract, interlock } = PUBLISHED;
    const text = textOf(PUBLISHED, versioned("2.0.0"));
    expect(textOf(versioned("2.0.0"), { interlock, contract })).toBe(text);
  });

  test("shows every change of a tool in the file of the tool, and in no other file of a tool", () => {
    const other = withValue(PUBLISHED, "/contract/identity/name", "atlas__find");
    const before = formatLock(toLock([PUBLISHED, other]));
    const after = formatLock(toLock([withValue(PUBLISHED, TIMEOUT, 5), other]));
    const changed = [...before].filter(
      ([path, text]) => after.has(path) && after.get(path) !== text,
    );
    expect(changed.map(([path]) => path)).toEqual([FILE]);
  });

  test("parses its own text", () => {
    const odd = withValue(PUBLISHED, "/contract/affordance/output_schema", {
      type: "object",
      properties: JSON.parse('{"__proto__":{"type":"string"},"$part":{"type":"string"}}'),
    });
    for (const contract of [PUBLISHED, odd]) {
      const lock = toLock([contract, versioned("2.0.0")]);
      expect(parseLock(formatLock(lock))).toEqual({ ok: true, value: lock });
    }
  });

  test("refuses one version twice", () => {
    expect(() => toLock([PUBLISHED, PUBLISHED])).toThrow("bank__transfer@1.0.0 is declared twice");
  });

  const files = formatLock(toLock([PUBLISHED]));
  const good = files.get(FILE) ?? "";
  test.each([
    ["nothing", "", /is not JSON/],
    ["a merge conflict", `<<<<<<< HEAD\n${good}`, /is not JSON/],
    ["a list", "[]", /is no locked contract/],
    ["a field beside", good.replace(/^\{/, '{ "x": 1,'), /x/],
    ["of another version", good.replace('"version": "1.0.0"', '"version": "1.0.1"'), /holds/],
    ["a version that is no number", good.replaceAll("1.0.0", "one"), /version/],
    ["a state that nobody knows", good.replace('"status": "active"', '"status": "odd"'), /status/],
    ["a contract without its parts", good.replaceAll(/"\w{16}"/g, '"0123456789abcdef"'), /missing/],
  ])("is refused with a reason when a file is %s", (_name, text, reason) => {
    const failure = expect.stringMatching(reason);
    expect(parseLock(new Map([...files, [FILE, text]]))).toEqual({ ok: false, failure });
  });
});

describe("a review", () => {
  const review = (locked: (typeof PUBLISHED)[], current: (typeof PUBLISHED)[]) =>
    reviewLock(toLock(locked), toLock(current));

  test("finds nothing when code and lock agree, and counts", () => {
    const versions = [PUBLISHED, versioned("2.0.0")];
    const findings = review([...versions, versioned("0.9.0", "sunsetted")], versions);
    expect(formatFindings(findings)).toEqual([]);
    expect(countFindings(findings)).toBe("tools 1, versions 3, of which retired 1");
  });

  test("a version missing from the code breaks, unless it is sunsetted in the lock", () => {
    const kinds = (status: "active" | "deprecated" | "sunsetted") =>
      review([versioned("1.0.0", status)], []).map(({ kind }) => kind);
    expect(kinds("active")).toEqual(["missing"]);
    expect(kinds("deprecated")).toEqual(["missing"]);
    expect(kinds("sunsetted")).toEqual(["retired"]);
  });

  test("a retired version stays in the lock, so that its number cannot mean something else", () => {
    const retired = versioned("1.0.0", "sunsetted");
    expect(mergeLocks(toLock([retired]), new Map())).toEqual([retired]);
    const again = review([retired], [versioned("1.0.0")]);
    expect(again.map(({ kind }) => kind)).toEqual(["breaking"]);
  });

  test("reports breaking changes first, and recommends a new version", () => {
    const described = withValue(PUBLISHED, "/contract/affordance/model_description", "Other.");
    const lines = formatFindings(review([PUBLISHED], [withValue(described, TIMEOUT, 5)]));
    expect(lines).toEqual([
      "bank__transfer@1.0.0:",
      `  BREAKING: ${TIMEOUT}: less time to finish: 10000 -> 5`,
      expect.stringContaining("  compatible: /contract/affordance/model_description"),
      "  Give it a new version, and keep bank__transfer@1.0.0 as it was beside it.",
    ]);
  });

  test("reports what a new version changes against the version before", () => {
    const finding = review(
      [versioned("1.9.0"), versioned("3.0.0")],
      [versioned("1.9.0"), versioned("3.0.0"), withValue(versioned("1.10.0"), TIMEOUT, 20_000)],
    ).find(({ kind }) => kind === "new");
    expect(finding).toMatchObject({
      key: "bank__transfer@1.10.0",
      since: { version: "1.9.0", needsMajor: false, changes: [{ kind: "compatible" }] },
    });
  });

  test.each([
    ["1.1.0", true],
    ["2.0.0", false],
  ])("a new version %s that breaks should have another first number: %j", (version, needsMajor) => {
    const next = withValue(versioned(version), TIMEOUT, 5);
    const findings = review([PUBLISHED], [PUBLISHED, next]);
    expect(findings[1]).toMatchObject({ kind: "new", since: { needsMajor } });
    expect(formatFindings(findings).join("\n").includes("first number")).toBe(needsMajor);
  });

  test("a different lifecycle is no change from the version before", () => {
    const findings = review(
      [versioned("1.0.0", "deprecated")],
      [versioned("1.0.0", "deprecated"), versioned("2.0.0")],
    );
    expect(formatFindings(findings)).toEqual([
      "bank__transfer@2.0.0: new, not in the lock",
      "  the same as 1.0.0",
    ]);
  });
});
