import { describe, expect, test } from "vitest";
import { parseLock, toLock, writeLock } from "../../scripts/contracts/contract-lock.ts";
import { mergeLocks, reviewLock } from "../../scripts/contracts/review-lock.ts";
import { countFindings, formatFindings } from "../../scripts/contracts/format-findings.ts";
import { PUBLISHED, versioned, withValue } from "./published.ts";

const TIMEOUT = "/contract/runtime/timeout_ms";

describe("the lock", () => {
  test("orders tools by name and versions by number, keys by name, and ends with a newline", () => {
    const other = withValue(PUBLISHED, "/contract/identity/name", "atlas__find");
    const text = writeLock(toLock([versioned("10.0.0"), versioned("9.0.0"), other]));
    expect([...text.matchAll(/"(\w+@[\d.]+)"/g)].map(([, key]) => key)).toEqual([
      "atlas__find@1.0.0",
      "bank__transfer@9.0.0",
      "bank__transfer@10.0.0",
    ]);
    expect(text.indexOf('"affordance"')).toBeLessThan(text.indexOf('"identity"'));
    expect(text.endsWith("}\n")).toBe(true);
  });

  test("is the same text for every order of contracts and fields", () => {
    const { contract, interlock } = PUBLISHED;
    const turned = { interlock, contract };
    const text = writeLock(toLock([PUBLISHED, versioned("2.0.0")]));
    expect(writeLock(toLock([versioned("2.0.0"), turned]))).toBe(text);
  });

  test("parses its own text", () => {
    const lock = toLock([PUBLISHED, versioned("2.0.0")]);
    expect(parseLock(writeLock(lock))).toEqual({ ok: true, value: lock });
  });

  test("refuses one version twice", () => {
    expect(() => toLock([PUBLISHED, PUBLISHED])).toThrow("bank__transfer@1.0.0 is declared twice");
  });

  const good = writeLock(toLock([PUBLISHED]));
  test.each([
    ["nothing", "", /is not JSON/],
    ["a merge conflict", `<<<<<<< HEAD\n${good}`, /is not JSON/],
    ["a list", "[]", /is no contract lock/],
    ["another format", good.replace('"lockVersion": 1', '"lockVersion": 2'), /lockVersion/],
    ["a field beside", good.replace('"lockVersion": 1', '"lockVersion": 1, "x": 1'), /x/],
    ["a contract of another name", good.replace('transfer@1.0.0"', 'transfer@1.0.1"'), /names/],
    ["a version that is no number", good.replaceAll("1.0.0", "one"), /version/],
    ["a state that nobody knows", good.replace('"status": "active"', '"status": "odd"'), /status/],
    ["an entry that is no contract", '{"lockVersion":1,"contracts":{"a@1.0.0":7}}', /contracts/],
  ])("is refused with a reason when it is %s", (_name, text, reason) => {
    expect(parseLock(text)).toEqual({ ok: false, failure: expect.stringMatching(reason) });
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
