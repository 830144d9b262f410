import { describe, expect, test } from "vitest";
import type { CommandResult } from "../shared/command-process.ts";
import { openPushDesk, actionsOf, SUM, TIME } from "../shared/push-desk.ts";

const desk = openPushDesk();

const SECRET = "sk-secret-of-the-crm";
const CRM = { kind: "bearer", token: { variable: "CRM_TOKEN" } };
describe("two people who push at the same time", () => {
  test("the one who comes second overwrites nothing, and learns what was applied", async () => {
    using bob = desk.projectOf({ policy: { allowedTools: [SUM] } });
    let bobs: Promise<CommandResult> | undefined;
    await using front = await desk.startFront(async ({ method, url }) => {
      if (method === "PUT" && url === "/v1/policy") await (bobs ??= desk.run(bob, ["push"]));
      return "pass";
    });
    using ann = desk.projectOf(
      { policy: { allowedTools: [TIME] }, "assistants/a": {}, "connections/crm": CRM },
      front.url,
    );
    const anns = await desk.run(ann, ["push", "--json"], { CRM_TOKEN: SECRET });
    expect((await bobs)?.exitCode).toBe(0);
    expect([anns.exitCode, actionsOf(anns)]).toEqual([
      1,
      {
        "connections/crm": "store: applied",
        policy: "create: conflict",
        "assistants/a": "create: not_tried",
      },
    ]);
    expect((await desk.ask("policy")).body).toMatchObject({
      policy: { allowedTools: [{ id: SUM }] },
    });
    expect(actionsOf(await desk.run(ann, ["push", "--json"]))).toMatchObject({ policy: "drift" });
  });

  test("in any order, each document is one of theirs whole, and only its author believes so", async () => {
    const documentsOf = (heading: string) =>
      Object.fromEntries(["a", "b", "c", "d"].map((id) => [`assistants/${id}`, { heading }]));
    using ann = desk.projectOf(documentsOf("ann"));
    using bob = desk.projectOf(documentsOf("bob"));
    const results = await Promise.all([ann, bob].map((one) => desk.run(one, ["push", "--json"])));
    const authors = ["a", "b", "c", "d"].map(async (id) => {
      const { body } = await desk.ask(`assistants/${id}`);
      const { heading } = (body as { assistant?: { heading?: string } }).assistant ?? {};
      const believers = ["ann", "bob"].filter((_, index) =>
        actionsOf(results[index] as CommandResult)[`assistants/${id}`]?.endsWith(": applied"),
      );
      expect(believers).toEqual(heading === undefined ? [] : [heading]);
    });
    await Promise.all(authors);
  });

  test("a push that is cut off says what was applied, and the next one completes it", async () => {
    let isCut = false;
    await using front = await desk.startFront(async ({ method, url }) => {
      if (method !== "PUT" || url !== "/v1/assistants/b" || isCut) return "pass";
      isCut = true;
      return "cut";
    });
    using project = desk.projectOf(
      { policy: { allowedTools: [] }, "assistants/a": {}, "assistants/b": {}, "assistants/c": {} },
      front.url,
    );
    const failed = await desk.run(project, ["push"]);
    expect(failed.stdout).toContain("assistants/a: applied");
    expect(failed.stdout).toContain("assistants/b: no answer: it may have been applied");
    expect(failed.stdout).toContain("assistants/c: not tried");
    expect(failed.exitCode).toBe(1);
    expect(actionsOf(await desk.run(project, ["push", "--json"]))).toEqual({
      policy: "unchanged",
      "assistants/a": "unchanged",
      "assistants/b": "create: applied",
      "assistants/c": "create: applied",
    });
  });
});
