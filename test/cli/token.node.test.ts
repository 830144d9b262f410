import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createConsoleLog } from "../../src/adapters/platform/console-log.ts";
import { createJwtAuthenticator } from "../../src/adapters/identity/jwt-authenticator.ts";
import { systemClock } from "../../src/adapters/platform/system.ts";
import { runCommand } from "../shared/command-process.ts";
import { parseApiTokens } from "../../src/protocol/identity/api-token.ts";

const token = async (...flags: string[]) => {
  const { exitCode, stdout, stderr } = await runCommand(["token", ...flags], tmpdir());
  return { status: exitCode, stdout, stderr };
};

test("prints a token, and an entry with only its hash", async () => {
  const { stdout, status } = await token(
    "--tenant",
    "acme",
    "--actor",
    "service:ci",
    "--scopes",
    "chat",
  );
  const [secret = "", entry = ""] = stdout.trim().split("\n");
  expect(status).toBe(0);
  expect(secret).toMatch(/^ilk_[\w-]{43}$/);
  expect(entry).not.toContain(secret);
  expect(parseApiTokens(entry)).toEqual([
    {
      sha256: createHash("sha256").update(secret).digest("hex"),
      tenantId: "acme",
      actorId: "service:ci",
      scopes: ["chat"],
      roles: [],
    },
  ]);
});

test("adds the roles of the person", async () => {
  const { stdout } = await token(
    "--tenant",
    "acme",
    "--actor",
    "user:ann",
    "--roles",
    "approver,operator",
  );
  const [, entry = ""] = stdout.trim().split("\n");
  expect(parseApiTokens(entry)).toMatchObject([{ roles: ["approver", "operator"] }]);
});

test("adds the user for whom the caller acts", async () => {
  const { stdout } = await token("--tenant", "acme", "--actor", "agent:x", "--subject", "user:ann");
  const [, entry = ""] = stdout.trim().split("\n");
  expect(parseApiTokens(entry)).toMatchObject([{ actorId: "agent:x", subjectId: "user:ann" }]);
});

test.each([
  [[]],
  [["--tenant", "acme"]],
  [["--tenant", "a/b", "--actor", "user:x"]],
  [["--tenant", "acme", "--actor", "root"]],
  [["--tenant", "acme", "--actor", "user:x", "--scopes", "AD MIN"]],
  [["--tenant", "acme", "--actor", "user:x", "--roles", "Approver"]],
  [["--tenant", "acme", "--actor", "user:x", "--subject", "ann"]],
  [["--nonsense"]],
])("wrong arguments print the usage: %j", async (flags) => {
  const { stdout, stderr, status } = await token(...flags);
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("Usage: interlock token");
});

test("makes a JWT that a deployment with the same secret accepts", async () => {
  const directory = mkdtempSync(join(tmpdir(), "interlock-token-"));
  try {
    const secret = "a shared secret of 32 bytes or more";
    const file = join(directory, "secret");
    writeFileSync(file, `${secret}\n`);
    const who = [
      "--tenant",
      "acme",
      "--subject",
      "ann",
      "--agent",
      "helper",
      "--roles",
      "approver",
    ];
    const whose = ["--issuer", "https://id.test", "--audience", "interlock", "--secret-file", file];
    const { stdout } = await token("jwt", ...whose, ...who);
    const verifier = createJwtAuthenticator(
      {
        issuer: "https://id.test",
        audience: "interlock",
        algorithms: ["HS256"],
        tenantClaim: "tenant",
        subjectClaim: "sub",
        rolesClaim: "roles",
        groupsClaim: "groups",
        scopesClaim: "scope",
        clockToleranceSeconds: 5,
        keys: { kind: "secret", secret: new TextEncoder().encode(secret) },
      },
      { clock: systemClock, fetch, keepAlive: () => undefined, log: createConsoleLog() },
    );
    expect(await verifier.verify(stdout.trim())).toEqual({
      ok: true,
      value: {
        tenantId: "acme",
        actorId: "agent:helper",
        subjectId: "user:ann",
        roles: ["approver"],
        scopes: ["chat", "runs:read", "tools:read"],
      },
    });
    expect((await token("jwt", ...who)).status).toBe(2);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
