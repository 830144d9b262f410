import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { splitTables } from "../../../../src/widget/chat/answer/data-tables.ts";
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

  it("writes a number as the reader does, unless it is a name", () => {
    const values = (data: JsonObject) => readFields(data).map(({ value }) => value);
    expect(values({ amount: 1234567.891, customerId: 1234567, year: 2026, rows: 1234 })).toEqual([
      "1,234,567.891",
      "1234567",
      "2026",
      "1234",
    ]);
  });

  it("takes lists of objects out as tables, however hostile their keys are", () => {
    const rows = [
      { name: "Tea", price: 2 },
      { name: "Milk", "<b>": 1 },
    ];
    const data = JSON.parse('{"__proto__":{"x":1}}') as JsonObject;
    expect(splitTables({ total: 2, found: { items: rows }, one: [{ a: 1 }], ...data })).toEqual({
      tables: [{ label: "Found › Items", columns: ["name", "price", "<b>"], rows }],
      rest: { total: 2, found: {}, one: [{ a: 1 }], ...data },
      isCut: false,
    });
    const wide = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, index]));
    expect(splitTables([wide, wide])).toMatchObject({ isCut: true, rest: {} });
    expect(splitTables([wide, 1]).tables).toEqual([]);
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
