import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { WRAPPER_VERSION } from "../../../src/protocol/audit/entry.ts";

test("records name the version that the package has", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  expect(WRAPPER_VERSION).toBe(version);
});
