import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import type { Visit } from "./open-page.ts";
import * as say from "./run-events.ts";
import { createApproval } from "./scripted-approvals.ts";
import { FIRST_MOMENT } from "./scripted-conversations.ts";
import { systemOf } from "./scripted-gameplan.ts";
import { usePage } from "./use-page.ts";

let visit: Visit;
const open = usePage((opened) => {
  visit = opened;
});
const at = (address: string) => ({ at: `gameplan#/p1/${address}` });
const main = () => visit.page.getByRole("main", { name: "Project" });
const sees = (text: string | RegExp) => main().getByText(text).first().waitFor();
const button = (name: string) => visit.page.getByRole("button", { name });
const reads = (tool: string) => visit.api.requestsTo(new RegExp(`gameplan__${tool}/`)).length;
const hash = () => new URL(visit.page.url()).hash;
/** The text of what has the focus. */
const focused = () =>
  visit.inside<string>(`(root) => root.activeElement?.textContent.trim() ?? ""`);
const followed = () => expect.poll(() => visit.api.gameplan.followers).toBe(1);

describe("the project", () => {
  it("lists its systems, and shows one of them with its dependencies and changes", async () => {
    await open({ at: "gameplan" });
    await sees("Combat Engine");
    await main()
      .getByRole("link", { name: /Combat Engine/ })
      .click();
    await main().getByRole("heading", { name: "Combat Engine" }).waitFor();
    await sees("What Combat Engine does.");
    await main().getByRole("link", { name: "Movement" }).waitFor();
    await sees("Created");
    await visit.page.reload();
    await main().getByRole("heading", { name: "Combat Engine" }).waitFor();
  });

  it("shows on a phone which section is open", async () => {
    await open({ ...at("project"), viewport: { width: 390, height: 844 } });
    const section = (name: string) =>
      visit.page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name });
    const isInSight = async (name: string): Promise<boolean> => {
      const { x = -1, width = 0 } = (await section(name).boundingBox()) ?? {};
      return x >= 0 && x + width <= 390;
    };
    await expect.poll(() => isInSight("Project")).toBe(true);
    expect(await isInSight("Systems")).toBe(false);
    await visit.page.evaluate('location.hash = "#/p1/systems"');
    await expect.poll(() => isInSight("Systems")).toBe(true);
  });

  it("is chosen in a switcher", async () => {
    await open({ at: "gameplan" });
    await sees("Combat Engine");
    await visit.page.getByLabel("Project", { exact: true }).first().selectOption("Puzzle Box");
    await expect.poll(() => new URL(visit.page.url()).hash).toBe("#/p2/systems");
    await visit.page.reload();
    await sees("Combat Engine");
    expect(new URL(visit.page.url()).hash).toBe("#/p2/systems");
  });

  it("finds systems by words", async () => {
    await open({
      ...at("systems"),
      prepare: ({ gameplan }) => {
        gameplan.systems = Array.from({ length: 20 }, (_, n) => systemOf(`s${n}`, `System ${n}`));
      },
    });
    const field = main().getByLabel("Search systems");
    await field.fill("System 19");
    await expect.poll(() => main().getByRole("listitem").count()).toBe(1);
    expect(await field.inputValue()).toBe("System 19");
    await field.fill("nothing");
    await sees("No system matches.");
  });

  it("shows its plans with phases, ideas with unread counts, and brainstorms", async () => {
    await open(at("plans"));
    await main()
      .getByRole("link", { name: /First playable/ })
      .click();
    const phases = main().getByRole("list", { name: "Phases" });
    await phases.getByText("Phase 2").waitFor();
    await phases.getByText("Combat (in the bin)").waitFor();
    await sees("Complete: the plan has everything that its systems require.");
    await visit.page.getByRole("link", { name: "Ideas" }).click();
    await sees("1 unread");
    await main()
      .getByRole("link", { name: /The boss/ })
      .click();
    await sees("<b>Big</b> boss");
    await expect.poll(() => visit.api.gameplan.writes[0]?.[0]).toBe("mark_thread_read");
    await main().getByLabel("Your message").fill("Bigger");
    await button("Post").click();
    await expect
      .poll(() => visit.api.gameplan.writes.at(-1)?.[1])
      .toMatchObject({ text: "Bigger" });
    await main().getByRole("link", { name: "All ideas" }).click();
    await main()
      .getByRole("link", { name: /Kick-off/ })
      .click();
    await sees("No jumping");
  });

  it("shows what it understands of a file before it makes a system of it", async () => {
    const file = (name: string, text: string | Buffer) => ({
      name,
      mimeType: "text/markdown",
      buffer: Buffer.from(text),
    });
    const system = systemOf("hide", "Stealth");
    await open({
      ...at("systems"),
      prepare: ({ gameplan }) => {
        const warnings = [
          '"Moon" names no system, several, or one too many.',
          '"Movement" names no system, several, or one too many.',
        ];
        gameplan.answers.set("import_system_from_markdown", () => ({ system, warnings }));
      },
    });
    await main().getByRole("link", { name: "Import Markdown" }).click();
    const text = main().getByLabel("Markdown", { exact: true });
    await text.fill("half a document");
    const choose = async (chosen: ReturnType<typeof file>) => {
      const opened = visit.page.waitForEvent("filechooser");
      await button("Choose a file").click();
      await (await opened).setFiles(chosen);
    };
    const alert = visit.page.getByRole("alert");
    await choose(file("long.md", "x".repeat(24_001)));
    await alert.getByText("Choose a text of at most 24,000 characters.").waitFor();
    // A picture is no text, whatever its name says.
    await choose(file("picture.md", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0xfe])));
    await alert.getByText('"picture.md" is not a text that this page can read.').waitFor();
    expect(await text.inputValue()).toBe("half a document");
    const markdown = "# Stealth\n\nHide.\n\n## Depends on\n\n- optional: Movement\n- Moon";
    await choose(file("stealth.md", markdown));
    await main().getByRole("heading", { name: "Stealth" }).waitFor();
    await sees("This was understood: 2 texts, 1 dependency, 1 note.");
    await sees('"Moon" names no system, several, or one too many.');
    await main().getByRole("link", { name: "Movement" }).waitFor();
    // Nothing was written, and what was typed is not lost.
    expect(visit.api.gameplan.writes).toEqual([]);
    await main().getByRole("link", { name: "Change the text" }).click();
    expect(await text.inputValue()).toBe(markdown);
    await button("Put back the text before").click();
    await expect.poll(() => text.inputValue()).toBe("half a document");
    await button("Put back the text before").click();
    await expect.poll(() => text.inputValue()).toBe(markdown);
    await button("Preview").click();
    visit.api.gameplan.systems = [...visit.api.gameplan.systems, system];
    await button("Import this system").click();
    await main().getByText("What Stealth does.").waitFor();
    const [made, ...others] = visit.api.gameplan.writes;
    const sent = { projectId: "p1", markdown };
    expect(made?.slice(0, 2)).toEqual(["import_system_from_markdown", sent]);
    expect(made?.[2]).toMatch(/^[0-9a-f]{32}$/);
    expect(others).toEqual([]);
    // Somebody moved Movement to the bin after the reader looked.
    await alert.getByText('The project changed meanwhile. "Movement" names no system').waitFor();
  });

  it("imports a text by keyboard alone", async () => {
    const system = systemOf("hide", "Stealth");
    await open({
      ...at("import"),
      prepare: ({ gameplan }) => {
        gameplan.answers.set("import_system_from_markdown", () => ({ system, warnings: [] }));
      },
    });
    const { keyboard } = visit.page;
    await main().getByLabel("Markdown", { exact: true }).focus();
    await keyboard.type("# Stealth");
    await keyboard.press("Tab");
    await keyboard.press("Enter");
    // The focus is at the heading of what was understood; the next stop confirms it.
    await main().getByRole("heading", { name: "Stealth" }).waitFor();
    await expect.poll(focused).toBe("Stealth");
    await keyboard.press("Tab");
    expect(await focused()).toBe("Import this system");
    visit.api.gameplan.systems = [...visit.api.gameplan.systems, system];
    await keyboard.press("Enter");
    await main().getByText("What Stealth does.").waitFor();
    await expect.poll(focused).toBe("Stealth");
    expect(hash()).toBe("#/p1/systems/hide");
  });

  it("hands out a system as Markdown, which the import reads", async () => {
    await open(at("systems/fight"));
    await main().getByRole("link", { name: "Export as Markdown" }).click();
    const file = main().getByLabel("Preview");
    await file.getByText("# Combat Engine").waitFor();
    expect(await file.textContent()).toContain("## Depends on\n\n- requires: Movement (move)\n");
  });

  it("hands out a document as a file, with all its parts", async () => {
    await open(at("exports"));
    await main()
      .getByRole("link", { name: /The design/ })
      .click();
    expect(await main().getByLabel("Preview").textContent()).toBe("part 1;part 2;");
    const saved = visit.page.waitForEvent("download");
    await button("Download The design").click();
    const file = await saved;
    expect(file.suggestedFilename()).toBe("design.md");
    const chunks: Buffer[] = [];
    for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).toBe("part 1;part 2;");
  });
});

describe("the dependency graph", () => {
  it("is a picture, and says the same in words", async () => {
    await open(at("graph"));
    await main()
      .getByRole("img", { name: /2 systems, 1 dependency/ })
      .waitFor();
    const words = main().getByRole("list", { name: "In the order of building" });
    expect(await words.getByRole("listitem").allTextContents()).toEqual([
      "Movement depends on nothing",
      "Combat Engine requires Movement",
    ]);
    await words.getByRole("link", { name: "Combat Engine" }).click();
    await expect.poll(() => new URL(visit.page.url()).hash).toBe("#/p1/graph/fight");
    const panel = main().getByRole("complementary", { name: "Selected system" });
    await panel.getByRole("link", { name: "Open" }).click();
    await main().getByRole("heading", { name: "Combat Engine" }).waitFor();
  });
});

describe("changes", () => {
  it("of others appear by themselves, and only what shows them is read again", async () => {
    await open(at("systems"));
    await sees("Combat Engine");
    await followed();
    // With the stream everything is read once more, because a change may have been missed.
    await expect.poll(() => reads("list_game_systems")).toBe(2);
    const before = 2;
    visit.api.gameplan.systems = [...visit.api.gameplan.systems, systemOf("loot", "Loot")];
    const summary = 'Created game system "Loot" (loot)';
    const entry = { id: "a1", at: "", actor: "user:bob", action: "created", summary };
    visit.api.gameplan.activity = [{ ...entry, entity: "system", entityId: "loot" }];
    visit.api.gameplan.announce("system", "loot");
    await sees("Loot");
    await visit.page.getByText(`bob: ${summary}`).waitFor();
    expect(reads("list_game_systems")).toBe(before + 1);
    visit.api.gameplan.announce("export");
    await expect.poll(() => reads("get_project_activity")).toBe(2);
    expect(reads("list_game_systems")).toBe(before + 1);
    expect(reads("list_exports")).toBe(0);
  });

  it("leave alone what the reader writes", async () => {
    await open(at("ideas/thread%3At1"));
    const field = main().getByLabel("Your message");
    await field.fill("half a sent");
    await followed();
    const before = reads("get_thread_messages");
    visit.api.gameplan.announce("idea_message");
    await expect.poll(() => reads("get_thread_messages")).toBeGreaterThan(before);
    await field.press("End");
    await field.pressSequentially("ence");
    expect(await field.inputValue()).toBe("half a sentence");
  });

  it("are read after a lost connection, too", async () => {
    await open(at("systems"));
    await followed();
    visit.api.gameplan.goAway();
    await visit.page.getByText("The connection was lost.").waitFor();
    visit.api.gameplan.comeBack();
    await followed();
    await expect
      .poll(() => visit.page.getByText("The connection was lost.").isVisible())
      .toBe(false);
    visit.api.gameplan.systems = [systemOf("loot", "Loot")];
    visit.api.gameplan.announce("system");
    await sees("Loot");
  });

  it("are followed also where the workspace was not found at first", async () => {
    await open({ ...at("systems"), prepare: ({ gameplan }) => gameplan.goAway() });
    await sees("Combat Engine");
    // The client sends a read four times before it gives up.
    await expect
      .poll(() => visit.api.requestsTo(/\/v1\/workspaces$/).length)
      .toBeGreaterThanOrEqual(4);
    visit.api.gameplan.comeBack();
    await followed();
  });

  it("never take a press away that has begun", async () => {
    await open(at("systems/fight"));
    await followed();
    const edit = await button("Edit").boundingBox();
    const { x = 0, y = 0, width = 0, height = 0 } = edit ?? {};
    await visit.page.mouse.move(x + width / 2, y + height / 2);
    await visit.page.mouse.down();
    visit.api.gameplan.systems = [systemOf("fight", "Combat Engine", { purpose: "Theirs" })];
    const before = reads("get_impact_analysis");
    visit.api.gameplan.announce("system");
    await expect.poll(() => reads("get_impact_analysis")).toBeGreaterThan(before);
    // The answer arrives before that of a later request.
    await visit.page.evaluate("fetch('/v1/page')");
    await visit.page.mouse.up();
    await main().getByRole("form", { name: "Edit" }).waitFor();
    expect(await main().getByLabel("Purpose").inputValue()).toBe("Theirs");
  });

  it("that delete can be undone where they are told", async () => {
    await open(at("systems"));
    await followed();
    const summary = 'Deleted game system "Loot"';
    const entry = { id: "a1", at: "", actor: "user:ann", action: "deleted", summary };
    visit.api.gameplan.activity = [{ ...entry, entity: "system", entityId: "loot" }];
    visit.api.gameplan.announce("system", "loot");
    await button(`Undo: ${summary}`).click();
    await expect.poll(() => visit.api.gameplan.writes.length).toBe(1);
    const [tool, args, key] = visit.api.gameplan.writes[0] ?? [];
    expect([tool, args]).toEqual(["restore", { entity: "system", id: "loot" }]);
    expect(key).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe("a call of the page that people have to agree to", () => {
  it("shows the approval, and goes on as the same call after the decision", async () => {
    await open({
      ...at("systems/fight"),
      prepare: ({ gameplan, approvals }) => {
        approvals.put(createApproval());
        gameplan.waitsFor = "run_1";
        gameplan.answers.set("delete_game_system", () => ({ binItem: {} }));
      },
    });
    await button("Move to bin").click();
    const approve = visit.page.getByRole("dialog").getByRole("button", { name: "Approve" });
    await approve.waitFor();
    visit.api.gameplan.waitsFor = undefined;
    await approve.click();
    await main().getByRole("heading", { name: "Systems" }).waitFor();
    expect(await visit.page.getByRole("dialog").count()).toBe(0);
    const { writes } = visit.api.gameplan;
    const sent = ["delete_game_system", { systemId: "fight", revision: 1 }];
    expect(writes.map(([tool, args]) => [tool, args])).toEqual([sent, sent]);
    expect(new Set(writes.map(([, , key]) => key)).size).toBe(1);
  });

  it("says so when the reader cannot see the approval", async () => {
    const prepare = ({ gameplan }: Visit["api"]) => (gameplan.waitsFor = "run_9");
    await open({ ...at("systems/fight"), prepare });
    await button("Move to bin").click();
    await visit.page.getByText("People have to agree to this.").waitFor();
  });

  it("says why a call failed, and leaves the page as it is", async () => {
    await open({
      ...at("systems/fight"),
      prepare: ({ gameplan }) => {
        gameplan.answers.set("delete_game_system", () => ({ error: "The row changed since." }));
      },
    });
    await button("Move to bin").click();
    await visit.page.getByRole("alert").getByText("The row changed since.").waitFor();
    await main().getByRole("heading", { name: "Combat Engine" }).waitFor();
  });
});

describe("the bin", () => {
  it("lists what was deleted, and restores it", async () => {
    const item = { entity: "system", id: "loot", projectId: "p1", name: "Loot", revision: 3 };
    const deleted = {
      deletedAt: "",
      deletedBy: "user:ann",
      restorableUntil: "2026-12-22T10:00:00Z",
    };
    await open({
      ...at("bin"),
      prepare: ({ gameplan }) => {
        gameplan.bin = [{ ...item, ...deleted }];
        gameplan.answers.set("restore", () => {
          gameplan.bin = [];
          return { restored: true };
        });
      },
    });
    await sees(/System, deleted by ann, can be restored until/);
    await button("Restore Loot").click();
    await sees("The bin is empty.");
  });
});

describe("a page without content", () => {
  it("offers to make an example project", async () => {
    await open({
      at: "gameplan",
      prepare: ({ gameplan }) => {
        const { projects } = gameplan;
        gameplan.projects = [];
        gameplan.answers.set("create_project", () => {
          gameplan.projects = projects;
          return { project: projects[0] };
        });
        gameplan.answers.set("create_game_system", ({ systemSlug }) => ({
          system: { id: systemSlug },
        }));
      },
    });
    await sees("There is no project yet");
    await button("Make an example project").click();
    await sees("Combat Engine");
    const { writes } = visit.api.gameplan;
    const named = (name: string) => writes.filter(([tool]) => tool === name);
    // The page draws what exists already while it makes the rest.
    await expect.poll(() => named("create_game_system").length).toBe(4);
    await expect
      .poll(() => named("add_dependency")[0]?.[1])
      .toMatchObject({
        sourceSystemId: "room-generator",
        targetSystemId: "movement",
      });
  });

  it("says what failed, and tries again", async () => {
    await open({ at: "gameplan", prepare: ({ gameplan }) => (gameplan.status = 503) });
    await main().getByRole("alert").getByText("The store is being moved.").waitFor();
    visit.api.gameplan.status = undefined;
    await button("Try again").click();
    await sees("Combat Engine");
  });

  it("asks for a token once, for the project and the chat", async () => {
    await open({ at: "gameplan", prepare: (api) => (api.token = "secret") });
    await visit.page.locator("#token:visible").fill("secret");
    await button("Continue").click();
    await sees("Combat Engine");
    await visit.ask("Hello");
    expect(visit.api.requestsTo(/POST \/v1\/chat/)[0]?.authorization).toBe("Bearer secret");
  });
});

describe("the questions to the assistant", () => {
  /** Lists a run of the assistant. */
  const list = (runId: string, actorId: string, more: object = {}): void =>
    visit.api.listed.list({
      runId,
      actorId,
      status: "completed",
      model: "scripted-model",
      steps: 1,
      toolCalls: 1,
      createdAt: FIRST_MOMENT,
      ...more,
    } as never);
  const rows = () => main().getByRole("list", { name: "Questions" }).getByRole("link");

  /** Asks, and lets the model make a call before it answers. */
  async function askAndCall(question: string, args: JsonObject, data: JsonObject): Promise<string> {
    const run = await visit.ask(question);
    run.emit(say.proposeTool(0, "gameplan__list_game_systems"), say.startTool(0, args));
    run.emit(say.finishTool(0, data), say.startText(1), say.text(1, "It has **two** systems."));
    run.emit(say.finishText(1), say.end());
    return run.id;
  }

  it("are those about the project, or all with who asked; the words of others stay theirs", async () => {
    await open(at("questions"));
    await sees("Nobody has asked anything yet.");
    const id = await askAndCall("Which systems \u202edoes it have?", { projectId: "p1" }, {});
    const system = { result: { data: { system: { projectId: "p2" } } } };
    const elsewhere = await askAndCall("And the other game?", { systemId: "fight" }, system);
    const thanks = await visit.ask("Thank you");
    thanks.emit(say.startText(0), say.text(0, "Good luck."), say.finishText(0), say.end());
    // A model may make up a name.
    list("run_bob", "user:bob", { status: "failed", toolIds: ["made\u202eup"] });
    list(id, "user:ann", { toolIds: ["gameplan__list_game_systems"] });
    for (const other of [elsewhere, thanks.id]) list(other, "user:ann");
    await button("Refresh").click();
    await expect.poll(() => rows().count()).toBe(1);
    const about = main().getByLabel("Questions about");
    await about.selectOption("All projects");
    await expect.poll(() => rows().count()).toBe(4);
    expect(hash()).toBe("#/p1/questions?of=all");
    const [own, other] = [rows().nth(2), rows().last()];
    for (const text of ["Which systems ⟦U+202E⟧does it have?", "Completed", "ann"]) {
      await own.getByText(text).waitFor();
    }
    await own.getByText("It has two systems.").waitFor();
    await own.getByText("Called: list game systems").waitFor();
    expect(await own.getAttribute("href")).toBe(`runs#${id}`);
    const madeUp = "Called: made⟦U+202E⟧up";
    for (const text of ["A question in somebody else's chat", "Failed", "bob", madeUp]) {
      await other.getByText(text).waitFor();
    }
    const [asked] = visit.api.requestsTo(/GET \/v1\/runs\?/).slice(-1);
    const { searchParams } = new URL(asked?.path ?? "", "http://any");
    expect([searchParams.get("kind"), searchParams.get("assistant")]).toEqual(["chat", "gameplan"]);
    // What names no project follows the question before it.
    await visit.page.goto(`${visit.api.url}gameplan#/p2/questions`);
    await expect
      .poll(() => rows().locator(".row-name").allTextContents())
      .toEqual(["Thank you", "And the other game?"]);
  });

  it("are read page by page, and a refusal is said in words", async () => {
    await open({ at: "gameplan" });
    visit.api.listed.pageSize = 2;
    for (const n of [1, 2, 3]) list(`run_other${n}`, "user:bob");
    await visit.page.goto(`${visit.api.url}gameplan#/p1/questions`);
    await sees("There is no such question among the newest ones.");
    await main().getByLabel("Questions about").selectOption("All projects");
    await expect.poll(() => rows().count()).toBe(2);
    await button("Show more").click();
    await expect.poll(() => rows().count()).toBe(3);
    expect(await button("Show more").count()).toBe(0);
    visit.api.listed.refusal = "Ask for the scope runs:read.";
    await visit.page.reload();
    await sees("Ask for the scope runs:read.");
  });
});
