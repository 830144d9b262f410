import { describe, expect, test } from "vitest";
import type { CommandResult } from "../shared/command-process.ts";
import { openPushDesk, actionsOf, SUM, TIME } from "../shared/push-desk.ts";

const desk = openPushDesk();

describe("interlock push", () => {
  test("shows what it would do, does it, and then has nothing to do", async () => {
    using project = desk.projectOf({
      policy: { allowedTools: [TIME] },
      "assistants/support": { instructions: "Answer in two sentences.", toolIds: [TIME] },
    });
    const dry = await desk.run(project, ["push", "--dry-run"]);
    expect(dry.all).toContain("policy: create");
    expect(dry.all).toContain('instructions":"Answer in two sentences."');
    expect(dry.exitCode).toBe(0);
    expect((await desk.ask("policy")).status).toBe(404);
    expect(project.read("tenant/pushed/staging.json")).toBeUndefined();

    const pushed = await desk.run(project, ["push", "--json"]);
    expect(actionsOf(pushed)).toEqual({
      policy: "create: applied",
      "assistants/support": "create: applied",
    });
    expect((await desk.ask("assistants/support")).body).toMatchObject({
      assistant: { instructions: "Answer in two sentences." },
    });
    expect(actionsOf(await desk.run(project, ["push", "--json"]))).toEqual({
      policy: "unchanged",
      "assistants/support": "unchanged",
    });
  });

  test("shows each changed field, without colours where no terminal is", async () => {
    using project = desk.projectOf({ policy: { allowedTools: [TIME], budgets: { maxSteps: 5 } } });
    await desk.run(project, ["push"]);
    project.write("tenant/policy.json", { allowedTools: [TIME, SUM], budgets: { maxSteps: 8 } });
    const { stdout, exitCode } = await desk.run(project, ["push"]);
    expect(stdout.split("\n").slice(1)).toEqual([
      "policy: update",
      `  + /allowedTools: {"id":"${SUM}","scopes":[]}`,
      "  ~ /budgets/maxSteps: 5 -> 8",
      "",
      "policy: applied",
      "",
    ]);
    expect(exitCode).toBe(0);
  });

  test("shows and applies who is a member of which workspace, and pull brings it back", async () => {
    const studio = { roles: ["designer"] };
    using project = desk.projectOf({
      policy: { allowedTools: [TIME], workspaces: { studio } },
    });
    await desk.run(project, ["push"]);
    const lab = { actors: ["user:ann"] };
    const workspaces = { studio: { roles: ["designer", "writer"] }, lab };
    project.write("tenant/policy.json", { allowedTools: [TIME], workspaces });
    const { stdout } = await desk.run(project, ["push"]);
    expect(stdout.split("\n")).toEqual(
      expect.arrayContaining([
        expect.stringContaining("+ /workspaces/lab") as string,
        expect.stringContaining("+ /workspaces/studio/roles") as string,
      ]),
    );
    expect((await desk.ask("policy")).body).toMatchObject({ policy: { workspaces } });
    await desk.put("policy", { allowedTools: [TIME], workspaces: { lab } }, { "if-match": '"2"' });
    await desk.run(project, ["pull"]);
    expect(project.read("tenant/policy.json")).toEqual({
      allowedTools: [TIME],
      workspaces: { lab },
    });
    for (const id of ["UPPER", "a b", "a".repeat(65)]) {
      const text = `{"allowedTools":["${TIME}"],"workspaces":{"${id}":{"actors":["user:ann"]}}}`;
      project.write("tenant/policy.json", text);
      const refused = await desk.run(project, ["push"]);
      expect(refused.exitCode).toBe(1);
      expect(refused.all).toContain("workspaces");
    }
    expect((await desk.ask("policy")).body).toMatchObject({ policy: { workspaces: { lab } } });
  });

  test("repeats what the deployment warns of, with file and line", async () => {
    const rule = { tools: [SUM], pattern: "dual_control", roles: ["finanse"] };
    const policy = { allowedTools: [SUM], approvals: [rule] };
    using project = desk.projectOf({ policy });
    project.write("tenant/policy.json", JSON.stringify(policy, undefined, 2));
    const { stdout, exitCode } = await desk.run(project, ["push"]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(
      "policy: applied\nwarning tenant/policy.json:12: /approvals/0/roles/0: no known person has " +
        "this role\n",
    );
  });

  test("never overwrites what somebody changed at the deployment, and changes nothing else then", async () => {
    using project = desk.projectOf({ policy: { allowedTools: [TIME] }, "assistants/a": {} });
    await desk.run(project, ["push"]);
    await desk.put("policy", { allowedTools: [SUM] }, { "if-match": '"1"' });
    project.write("tenant/policy.json", { allowedTools: [TIME], currency: "EUR" });
    project.write("tenant/assistants/a.json", { heading: "Hello" });
    const refused = await desk.run(project, ["push"]);
    expect(refused.exitCode).toBe(1);
    expect(refused.stdout).toContain("policy: DRIFT: somebody changed it at the deployment");
    expect(refused.stdout).toContain(`  - /allowedTools: {"id":"${SUM}","scopes":[]}`);
    expect(refused.stdout).toContain("Nothing was changed.");
    expect((await desk.ask("policy")).body).toMatchObject({
      revision: 2,
      policy: { allowedTools: [{ id: SUM }] },
    });
    expect((await desk.ask("assistants/a")).body).not.toMatchObject({
      assistant: { heading: "Hello" },
    });
  });

  test("takes a change back at the deployment for drift too", async () => {
    using project = desk.projectOf({ policy: { allowedTools: [TIME] } });
    await desk.run(project, ["push"]);
    project.write("tenant/policy.json", { allowedTools: [SUM] });
    await desk.run(project, ["push"]);
    await desk.put("policy", { allowedTools: [TIME] }, { "if-match": '"2"' });
    project.write("tenant/policy.json", { allowedTools: [SUM], currency: "EUR" });
    expect(actionsOf(await desk.run(project, ["push", "--json"]))).toEqual({ policy: "drift" });
  });

  test("does not replace documents of a deployment that it never pushed to", async () => {
    await desk.put("policy", { allowedTools: [SUM] }, { "if-none-match": "*" });
    await desk.put("assistants/theirs", { heading: "Theirs" }, { "if-none-match": "*" });
    using project = desk.projectOf({ policy: { allowedTools: [TIME] }, "assistants/mine": {} });
    const { exitCode, stdout } = await desk.run(project, ["push", "--json"]);
    expect(exitCode).toBe(1);
    expect(actionsOf({ stdout } as CommandResult)).toEqual({
      policy: "drift",
      "assistants/mine": "create",
      "assistants/theirs": "unmanaged",
    });
  });

  test("deletes what it pushed only when it is told to", async () => {
    using project = desk.projectOf({ policy: { allowedTools: [] }, "assistants/old": {} });
    await desk.run(project, ["push"]);
    project.remove("tenant/assistants/old.json");
    expect((await desk.run(project, ["push"])).stdout).toContain(
      "assistants/old: its file is gone",
    );
    expect((await desk.ask("assistants/old")).status).toBe(200);
    const deleted = await desk.run(project, ["push", "--delete", "--json"]);
    expect(actionsOf(deleted)).toMatchObject({ "assistants/old": "delete: applied" });
    expect((await desk.ask("assistants/old")).status).toBe(404);
    expect(Object.keys(project.read("tenant/pushed/staging.json") as object)).toEqual(["policy"]);
  });

  test("says of a document that was deleted at the deployment that this is drift", async () => {
    using project = desk.projectOf({ "assistants/a": {} });
    await desk.run(project, ["push"]);
    await desk.ask("assistants/a", { method: "DELETE", headers: { "if-match": '"1"' } });
    const refused = await desk.run(project, ["push"]);
    expect([refused.exitCode, (await desk.ask("assistants/a")).status]).toEqual([1, 404]);
    expect(refused.stdout).toContain("it was deleted at the deployment after the last push");
  });

  test("names the file and the field that are wrong before it asks the deployment", async () => {
    using project = desk.projectOf({ "assistants/a": { headings: "x" } }, "http://127.0.0.1:1");
    const refused = await desk.run(project, ["push"]);
    expect(refused.stderr).toBe("tenant/assistants/a.json:1: /headings: expected no such field\n");
    expect(refused.exitCode).toBe(1);
  });

  test("repeats what the deployment refuses, and records nothing of it", async () => {
    using project = desk.projectOf({ policy: { allowedTools: ["no__such_tool"] } });
    const refused = await desk.run(project, ["push"]);
    expect(refused.stdout).toContain(
      "policy: NOT applied: the deployment refused it. 422 invalid_request",
    );
    expect(refused.stdout).toContain("/allowedTools/0");
    expect(refused.exitCode).toBe(1);
    expect(project.read("tenant/pushed/staging.json")).toBeUndefined();
  });

  test.each([
    ["http://example.test", "an https address"],
    ["https://user:secret@example.test", "an https address"],
  ])("sends no token to %s", async (url, reason) => {
    using project = desk.projectOf({ policy: { allowedTools: [] } }, url);
    const refused = await desk.run(project, ["push"]);
    expect(refused.stderr).toContain(reason);
    expect(refused.exitCode).toBe(1);
  });

  test("follows no redirect, so that no other server gets the token", async () => {
    const asked: string[] = [];
    await using other = await desk.startFront(async ({ url = "" }) => {
      asked.push(url);
      return "pass";
    });
    await using front = await desk.startFront(async ({ url = "" }) => new URL(url, other.url));
    using project = desk.projectOf({ policy: { allowedTools: [] } }, front.url);
    const refused = await desk.run(project, ["push"]);
    expect([refused.exitCode, asked]).toEqual([1, []]);
    expect(refused.stderr).toContain("307 unknown: The answer is not one of Interlock");
  });

  test("says after a 401 which token is needed", async () => {
    using project = desk.projectOf({ policy: { allowedTools: [] } });
    const refused = await desk.run(project, ["push"], { INTERLOCK_TOKEN: "of-somebody-else" });
    expect(refused.stderr).toContain(
      "For the environment staging, INTERLOCK_TOKEN (a variable, or a line of .dev.vars.staging) " +
        "must hold a bearer token of the tenant whose documents these are",
    );
    expect([refused.exitCode, refused.all.includes("of-somebody-else")]).toEqual([1, false]);
  });

  test("says which variable, file or environment is missing", async () => {
    using project = desk.projectOf({ policy: { allowedTools: [] } });
    const withoutToken = await project.run(["push", "--env", "staging"]);
    expect(withoutToken.stderr).toContain("INTERLOCK_TOKEN is not set");
    const elsewhere = await project.run(["push", "--env", "prod"], { INTERLOCK_TOKEN: desk.token });
    expect(elsewhere.stderr).toContain("has no environment prod; it has staging");
    expect((await project.run(["push"])).exitCode).toBe(2);
    project.write(".dev.vars.staging", `INTERLOCK_TOKEN=${desk.token}\n`);
    expect((await project.run(["push", "--env", "staging"])).exitCode).toBe(0);
  });
});

describe("interlock pull", () => {
  test("takes over what the deployment has as an author writes it, and the next push starts there", async () => {
    using project = desk.projectOf({ policy: { allowedTools: [TIME] } });
    await desk.run(project, ["push"]);
    await desk.put("policy", { allowedTools: [SUM], currency: "EUR" }, { "if-match": '"1"' });
    await desk.put("assistants/new", { heading: "Hello" }, { "if-none-match": "*" });
    const pulled = await desk.run(project, ["pull"]);
    expect(pulled.stdout).toContain("policy: written to tenant/policy.json");
    expect(project.read("tenant/policy.json")).toEqual({ allowedTools: [SUM], currency: "EUR" });
    expect(project.read("tenant/assistants/new.json")).toEqual({ heading: "Hello" });
    project.write("tenant/policy.json", { allowedTools: [TIME, SUM], currency: "EUR" });
    expect(actionsOf(await desk.run(project, ["push", "--json"]))).toEqual({
      policy: "update: applied",
      "assistants/new": "unchanged",
    });
  });

  test("keeps a file with changes that were never pushed, until it is told otherwise", async () => {
    using project = desk.projectOf({ policy: { allowedTools: [TIME] } });
    await desk.run(project, ["push"]);
    await desk.put("policy", { allowedTools: [SUM] }, { "if-match": '"1"' });
    project.write("tenant/policy.json", { allowedTools: [] });
    const kept = await desk.run(project, ["pull", "policy"]);
    expect(kept.stdout).toContain("left as it is");
    expect([kept.exitCode, project.read("tenant/policy.json")]).toEqual([1, { allowedTools: [] }]);
    expect((await desk.run(project, ["push"])).exitCode).toBe(1);
    await desk.run(project, ["pull", "policy", "--overwrite"]);
    expect(project.read("tenant/policy.json")).toEqual({ allowedTools: [SUM] });
  });
});
