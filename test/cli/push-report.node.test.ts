import { expect, test } from "vitest";
import { listDifferences } from "../../cli/push/differences.ts";
import type { PlannedDocument } from "../../cli/push/plan.ts";
import { formatPlan } from "../../cli/push/report.ts";

function planOf(differences: PlannedDocument["differences"]): PlannedDocument {
  return { key: "policy", action: "update", differences, stored: { kind: "absent" } };
}

test.each([
  ["equal documents", { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, []],
  ["a changed field", { a: { b: 1 } }, { a: { b: 2 } }, [{ pointer: "/a/b", from: 1, to: 2 }]],
  ["a new field", {}, { "a/b": 1 }, [{ pointer: "/a~1b", to: 1 }]],
  ["a field that is gone", { a: null }, {}, [{ pointer: "/a", from: null }]],
  [
    "items that came and went",
    { a: ["x", "y"] },
    { a: ["y", "z"] },
    [
      { pointer: "/a", from: "x" },
      { pointer: "/a", to: "z" },
    ],
  ],
  ["an item twice", { a: ["x"] }, { a: ["x", "x"] }, [{ pointer: "/a", to: "x" }]],
  ["another order", { a: [1, 2] }, { a: [2, 1] }, [{ pointer: "/a", from: [1, 2], to: [2, 1] }]],
  ["another kind of value", { a: [] }, { a: {} }, [{ pointer: "/a", from: [], to: {} }]],
])("the difference of %s", (_, from, to, expected) => {
  expect(listDifferences(from, to)).toEqual(expected);
});

test("a stored text cannot move the cursor or hide a part of the line", () => {
  const [, line] = formatPlan([planOf([{ pointer: "/a", to: "\u009B2Jx\u202E" }])], false);
  expect(line).toBe('  + /a: "⟦U+009B⟧2Jx⟦U+202E⟧"');
});

test("colours are for terminals", () => {
  const plan = [planOf([{ pointer: "/a", to: 1 }])];
  expect(formatPlan(plan, true)[1]).toBe("\u001B[32m  + /a: 1\u001B[0m");
  expect(formatPlan(plan, false)[1]).toBe("  + /a: 1");
});
