import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { parseApiTokens } from "../../src/protocol/api-token.ts";

const token = (...flags: string[]): ReturnType<typeof spawnSync> =>
  spawnSync(process.execPath, ["scripts/token.ts", ...flags], { encoding: "utf8" });

test("prints a token and the entry that knows its hash alone", () => {
  const { stdout, status } = token("--tenant", "acme", "--actor", "service:ci", "--scopes", "chat");
  const [secret = "", entry = ""] = String(stdout).trim().split("\n");
  expect(status).toBe(0);
  expect(secret).toMatch(/^ilk_[\w-]{43}$/);
  expect(entry).not.toContain(secret);
  expect(parseApiTokens(entry)).toEqual([
    {
      sha256: createHash("sha256").update(secret).digest("hex"),
      tenantId: "acme",
      actorId: "service:ci",
      scopes: ["chat"],
    },
  ]);
});

test("names whom the caller acts for", () => {
  const { stdout } = token("--tenant", "acme", "--actor", "agent:x", "--subject", "user:ann");
  const [, entry = ""] = String(stdout).trim().split("\n");
  expect(parseApiTokens(entry)).toMatchObject([{ actorId: "agent:x", subjectId: "user:ann" }]);
});

test.each([
  [[]],
  [["--tenant", "acme"]],
  [["--tenant", "a/b", "--actor", "user:x"]],
  [["--tenant", "acme", "--actor", "root"]],
  [["--tenant", "acme", "--actor", "user:x", "--scopes", "AD MIN"]],
  [["--tenant", "acme", "--actor", "user:x", "--subject", "ann"]],
  [["--nonsense"]],
])("says how it is used when asked wrongly: %j", (flags) => {
  const { stdout, stderr, status } = token(...flags);
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("Usage: npm run -s token");
});
