import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { friendlyName, readFields } from "../../../../src/widget/chat/answer/fields.ts";

describe("fields", () => {
  it.each([
    ["core__get_current_time", "Get current time"],
    ["calendar.listEvents", "Calendar list events"],
    ["", "Tool"],
  ])("shows the tool id %j as %j", (id, name) => {
    expect(friendlyName(id)).toBe(name);
  });

  it("labels a nested value with its path", () => {
    expect(readFields({ a: { bC: 1 }, list: [1, 2], rows: [{ x: true }], none: null })).toEqual([
      { label: "A › B c", value: "1" },
      { label: "List", value: "1, 2" },
      { label: "Rows › 1 › X", value: "Yes" },
      { label: "None", value: "None" },
    ]);
  });

  it("bounds what a hostile result can show", () => {
    const wide = readFields(
      Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i])),
    );
    expect(wide.length).toBeLessThan(100);
    const deep = JSON.parse(`${'{"a":'.repeat(2000)}1${"}".repeat(2000)}`) as JsonObject;
    expect(readFields(deep)).toHaveLength(1);
    expect(readFields({ long: "x".repeat(1_000_000) })[0]?.value.length).toBeLessThan(20_000);
  });
});
