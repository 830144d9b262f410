import { describe, expect, it, onTestFinished } from "vitest";
import type { Visit } from "./open-page.ts";
import { systemOf } from "./scripted-gameplan.ts";
import { usePage } from "./use-page.ts";

let visit: Visit;
const open = usePage((opened) => {
  visit = opened;
});
const at = (address: string) => ({ at: `gameplan#/p1/${address}` });
const main = () => visit.page.getByRole("main", { name: "Project" });
const sees = (text: string | RegExp) => main().getByText(text).first().waitFor();
const button = (name: string) => visit.page.getByRole("button", { name, exact: true });
const hash = () => new URL(visit.page.url()).hash;
const gameplan = () => visit.api.gameplan;

/** Lets the list of a tool hold many rows, in pages. */
function answerPages(tool: string, rows: readonly object[]) {
  return ({ gameplan: scripted }: Visit["api"]): void => {
    scripted.answers.set(tool, ({ after = 0, limit }) => {
      const [from, size] = [Number(after), Number(limit)];
      const next = from + size < rows.length ? String(from + size) : null;
      return { items: rows.slice(from, from + size), total: rows.length, next };
    });
  };
}

describe("a system", () => {
  it("is edited in place, in all its fields, as one call under a key", async () => {
    await open(at("systems/fight"));
    await button("Edit").click();
    const form = main().getByRole("form", { name: "Edit" });
    await expect.poll(() => form.locator("input, textarea, select").count()).toBe(14);
    await form.getByLabel("Core mechanics").fill("**Turns**, not seconds.");
    await form.getByLabel("How critical").selectOption("Later");
    await button("Save").click();
    await button("Edit").waitFor();
    const [tool, args, key] = gameplan().writes[0] ?? [];
    expect([tool, args]).toEqual([
      "update_game_system",
      {
        systemId: "fight",
        revision: 1,
        changeSummary: "Edited how critical, core mechanics",
        coreMechanics: "**Turns**, not seconds.",
        mvpCriticality: "later",
      },
    ]);
    expect(key).toMatch(/^[0-9a-f]{32}$/);
    expect(gameplan().writes).toHaveLength(1);
  });

  it("says in words what is wrong, and sends nothing", async () => {
    await open(at("systems/fight?edit=1"));
    await main().getByLabel("Name", { exact: true }).fill("  ");
    await main().getByLabel("Purpose").fill("x".repeat(4_001));
    await button("Save").click();
    await sees("A name needs at least one letter.");
    await sees("At most 4,000 characters. These are 4,001.");
    expect(gameplan().writes).toEqual([]);
  });

  it("keeps what was typed over a refusal, a colleague's change and a reload", async () => {
    const error = "This system changed since you read it.";
    await open({
      ...at("systems/fight?edit=1"),
      prepare: ({ gameplan: scripted }) => {
        scripted.answers.set("update_game_system", () => ({ error }));
      },
    });
    const purpose = main().getByLabel("Purpose");
    await purpose.fill("My own purpose");
    await button("Save").click();
    await visit.page.getByRole("alert").getByText(error).waitFor();
    expect(await purpose.inputValue()).toBe("My own purpose");
    gameplan().systems = [systemOf("fight", "Combat Engine", { purpose: "Theirs", revision: 2 })];
    await visit.page.reload();
    await sees("Somebody changed this meanwhile. It says now: Theirs");
    expect(await purpose.inputValue()).toBe("My own purpose");
    gameplan().answers.delete("update_game_system");
    await button("Save").click();
    await button("Edit").waitFor();
    expect(gameplan().writes.at(-1)?.[1]).toMatchObject({ revision: 2, purpose: "My own purpose" });
  });
});

describe("what a colleague has just changed", () => {
  it("carries their name and colour in a list and where it is open; one's own change does not", async () => {
    await open(at("systems"));
    await expect.poll(() => gameplan().followers).toBe(1);
    const change = { action: "updated", entity: "system", summary: "Updated", at: NOW };
    const call = { runId: "run_1", toolCallId: "call_1" };
    gameplan().activity = [
      { ...change, actor: "user:ben", entityId: "fight" },
      { ...change, actor: "user:ann", entityId: "move", call },
      { ...change, actor: "user:cat", entityId: "move", at: "2026-11-22T10:00:00.000Z" },
    ];
    gameplan().announce("system", "fight");
    const row = main().getByRole("link", { name: /Combat Engine/ });
    await expect.poll(() => row.innerText()).toContain("ben, just now");
    expect(await main().getByText("just now").count()).toBe(1);
    await row.click();
    await main().getByRole("heading", { name: "Combat Engine" }).waitFor();
    await sees("ben, just now");
  });
});

const NOW = "2026-11-22T12:00:00.000Z";

describe("a project", () => {
  it("is renamed, and moved to the bin", async () => {
    const project = { id: "p1", name: "Dungeon Crawler", status: "active", revision: 3 };
    await open({
      ...at("project"),
      prepare: ({ gameplan: scripted }) => {
        scripted.answers.set("get_project", () => ({ project, counts: { systems: 1 } }));
      },
    });
    await main().getByText("1 system", { exact: true }).waitFor();
    await button("Edit").click();
    await main().getByLabel("Name", { exact: true }).fill("Cave Crawler");
    await button("Save").click();
    await button("Move to bin").click();
    await expect
      .poll(() => gameplan().writes.map(([tool, args]) => [tool, args]))
      .toEqual([
        ["update_project", { projectId: "p1", revision: 3, name: "Cave Crawler" }],
        ["delete_project", { projectId: "p1", revision: 3 }],
      ]);
  });

  it("names who is in it; an owner lets people in and removes them, by keys alone", async () => {
    const [owner, ben] = [
      { person: "user:ann", access: "owner" },
      { person: "user:ben", access: "member" },
    ];
    const everybody = { person: "*", access: "none" };
    await open({
      ...at("project"),
      prepare: ({ gameplan: scripted }) => {
        const items = [owner, everybody, ben];
        scripted.answers.set("list_members", () => ({ revision: 3, items, isOwner: true }));
      },
    });
    const lines = main().getByRole("list", { name: "People" }).getByRole("listitem");
    await expect.poll(() => lines.count()).toBe(3);
    expect(await lines.nth(1).innerText()).toContain("Everybody in the workspace");
    // Nobody takes the right of the only owner.
    expect(await lines.nth(0).getByRole("button").count()).toBe(0);
    await main().getByRole("button", { name: "Remove: ben" }).press("Enter");
    await main().getByLabel("Add a person of the workspace").fill("cat");
    await main().getByLabel("Access").selectOption("Owner");
    await button("Set the access").press("Enter");
    const line = { projectId: "p1", revision: 3 };
    await expect
      .poll(() => gameplan().writes.map(([tool, args]) => [tool, args]))
      .toEqual([
        ["change_member", { ...line, person: "user:ben", access: "none" }],
        ["change_member", { ...line, person: "user:cat", access: "owner" }],
      ]);
    gameplan().answers.set("list_members", () => ({ items: [owner, ben], isOwner: false }));
    gameplan().announce("project", "p1");
    await expect
      .poll(() =>
        main()
          .getByRole("button", { name: /Remove/ })
          .count(),
      )
      .toBe(0);
    await sees("ben");
    // Who was removed is told so, without a reload.
    gameplan().projects = gameplan().projects.slice(1);
    gameplan().announce("member", "user:ann");
    await sees("This project is not known");
  });

  it("is made by a name, where there is none and where there is one", async () => {
    await open({ at: "gameplan", prepare: (api) => (api.gameplan.projects = []) });
    // The questions of the assistant need a project.
    const questions = visit.page.getByRole("list", { name: "Suggestions" });
    await questions
      .getByRole("button", { name: "Create a project called Puzzle Garden" })
      .waitFor();
    expect(await questions.getByText("What time is it in Tokyo?").count()).toBe(0);
    await button("Create the project").click();
    await sees("A name needs at least one letter.");
    await main().getByLabel("Name of a new project").fill("Moon Base");
    await button("Create the project").click();
    await expect.poll(() => gameplan().writes[0]?.[1]).toEqual({ name: "Moon Base" });
    await button("Make an example project").waitFor();
  });
});

describe("ideas and plans", () => {
  const forms = [
    {
      form: "ideas/thread:new",
      typed: { Title: "Boss fights", "First message": "Two dragons?" },
      submit: "Start the thread",
      call: ["create_idea_thread", { title: "Boss fights", text: "Two dragons?" }],
    },
    {
      form: "ideas/brainstorm:new",
      typed: { Title: "Day one", Notes: "- swords" },
      submit: "Add the brainstorm",
      call: ["create_brainstorm", { title: "Day one", content: "- swords" }],
    },
    {
      form: "plans/new",
      typed: {
        Version: "0.2",
        Goal: "A fight",
        "Systems, one": "Walk:\n- movement\nFight:\nCombat Engine",
      },
      submit: "Draft the plan",
      call: [
        "create_version_plan",
        {
          version: "0.2",
          goal: "A fight",
          systemIds: ["move", "fight"],
          phases: [
            { name: "Walk", systemIds: ["move"] },
            { name: "Fight", systemIds: ["fight"] },
          ],
        },
      ],
    },
  ];
  it.each(forms)("are made by hand, and keep what was typed: $form", async (made) => {
    const error = "Somebody else was faster.";
    await open({
      ...at(made.form),
      prepare: ({ gameplan: scripted }) => {
        scripted.answers.set(made.call[0] as string, () => ({ error }));
      },
    });
    await button(made.submit).click();
    expect(gameplan().writes).toEqual([]);
    for (const [label, text] of Object.entries(made.typed)) {
      await main().getByLabel(label).fill(text);
    }
    await button(made.submit).click();
    await visit.page.getByRole("alert").getByText(error).waitFor();
    await visit.page.reload();
    const [label = "", text] = Object.entries(made.typed).at(-1) ?? [];
    expect(await main().getByLabel(label).inputValue()).toBe(text);
    gameplan().answers.delete(made.call[0] as string);
    await button(made.submit).click();
    const [tool, args] = made.call as [string, object];
    await expect
      .poll(() => gameplan().writes.at(-1)?.slice(0, 2))
      .toEqual([tool, { projectId: "p1", ...args }]);
  });

  const edits = [
    {
      at: "ideas/thread:t1",
      edit: "Edit",
      typed: { Title: "The last boss" },
      call: { entity: "idea_thread", id: "t1", title: "The last boss" },
    },
    {
      at: "ideas/thread:t1",
      edit: "Edit: Mine",
      typed: { "What you wrote": "Still mine" },
      call: { entity: "idea_message", id: "m2", text: "Still mine" },
    },
    {
      at: "ideas/brainstorm:b1",
      edit: "Edit",
      typed: { Results: "Decision: No jumping\n  at all\nA rope", Tags: "moves, ropes" },
      call: {
        entity: "brainstorm",
        id: "b1",
        tags: ["moves", "ropes"],
        outputs: [
          { kind: "decision", text: "No jumping\nat all" },
          { kind: "idea", text: "A rope" },
        ],
      },
    },
    {
      at: "plans/v1",
      edit: "Edit",
      typed: { Goal: "A fight", Systems: "Fight:\nCombat Engine\n\nWalk:\nmovement" },
      call: {
        entity: "version_plan",
        id: "v1",
        goal: "A fight",
        phases: [
          { name: "Fight", systemIds: ["fight"] },
          { name: "Walk", systemIds: ["move"] },
        ],
      },
    },
  ];
  it.each(edits)("are edited in place, as one call under a key: $call.entity", async (edited) => {
    const error = "It changed since it was read.";
    await open({
      ...at(edited.at),
      prepare: ({ gameplan: scripted }) => scripted.answers.set("edit_row", () => ({ error })),
    });
    await button(edited.edit).click();
    const form = main().getByRole("form", { name: "Edit" }).first();
    for (const [label, text] of Object.entries(edited.typed)) {
      await form.getByLabel(label).fill(text);
    }
    await form.getByRole("button", { name: "Save" }).click();
    await visit.page.getByRole("alert").getByText(error).waitFor();
    await visit.page.reload();
    const [label = "", text] = Object.entries(edited.typed).at(-1) ?? [];
    expect(await form.getByLabel(label).inputValue()).toBe(text);
    gameplan().answers.delete("edit_row");
    await form.getByRole("button", { name: "Save" }).click();
    await button(edited.edit).waitFor();
    const [tool, args, key] = gameplan().writes.at(-1) ?? [];
    expect([tool, args]).toEqual(["edit_row", { ...edited.call, revision: 1 }]);
    expect(key).toMatch(/^[0-9a-f]{32}$/);
  });

  it("say what is wrong with a plan in its form, and keep a system of the bin", async () => {
    await open(at("plans/v1?edit=v1"));
    const systems = main().getByLabel("Systems, one");
    expect(await systems.inputValue()).toBe("Walk:\nMovement\n\nFight:\nCombat");
    await main().getByLabel("Goal").fill("Only this");
    await systems.fill("Walk:\nFight:\nMovement\nmovement");
    await button("Save").click();
    await sees('The phase "Walk" has no system.');
    await systems.fill("Walk:\nMovement\n\nFight:\nCombat");
    await button("Save").click();
    await expect
      .poll(() => gameplan().writes.map(([, args]) => args))
      .toEqual([{ entity: "version_plan", id: "v1", revision: 1, goal: "Only this" }]);
  });

  it("change by hand: a thread is closed, and an own message alone moves to the bin", async () => {
    await open(at("ideas/thread:t1"));
    await button("Move to bin: Mine").click();
    expect(
      await main()
        .getByRole("button", { name: /^Move to bin/ })
        .count(),
    ).toBe(1);
    await button("Close").click();
    await expect
      .poll(() => {
        const calls = gameplan().writes.map(([tool, args]) => [tool, args]);
        return calls.filter(([tool]) => tool !== "mark_thread_read");
      })
      .toEqual([
        ["discard", { entity: "idea_message", id: "m2", revision: 1 }],
        ["edit_row", { entity: "idea_thread", id: "t1", revision: 1, status: "finalized" }],
      ]);
  });

  it("go on by hand: a thread becomes a brainstorm, and a brainstorm goes to the bin", async () => {
    await open(at("ideas/thread:t1"));
    await button("Make a brainstorm of it").click();
    await expect
      .poll(() => gameplan().writes.find(([tool]) => tool.startsWith("finalize"))?.[1])
      .toEqual({ projectId: "p1", threadIds: ["t1"], title: "The boss" });
    await visit.page.getByRole("link", { name: "All ideas" }).click();
    await main()
      .getByRole("link", { name: /Kick-off/ })
      .click();
    await button("Move to bin").click();
    await expect
      .poll(() => gameplan().writes.at(-1)?.slice(0, 2))
      .toEqual(["delete_brainstorm", { brainstormId: "b1", revision: 1 }]);
  });
});

describe("the board", () => {
  const box = (id: string) => main().locator(`[data-node="${id}"]`);
  const middleOf = async (id: string) => {
    const { x = 0, y = 0, width = 0, height = 0 } = (await box(id).boundingBox()) ?? {};
    return { x: x + width / 2, y: y + height / 2, left: x + 2 };
  };
  const drag = async (from: { x: number; y: number }, to: { x: number; y: number }) => {
    const { mouse } = visit.page;
    await mouse.move(from.x, from.y);
    await mouse.down();
    await mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2);
    await mouse.move(to.x, to.y);
    await mouse.up();
  };
  /** With the stream of changes the board is read once more; then nothing moves by itself. */
  const settled = async (id: string) => {
    await expect.poll(() => visit.api.requestsTo(/get_board/).length).toBe(2);
    await box(id).hover();
  };
  const loot = systemOf("loot", "Loot");
  const withLoot = ({ gameplan: scripted }: Visit["api"]): void => {
    scripted.systems = [...scripted.systems, loot];
  };

  it("lets a system be dragged, shows it there at once, and puts it back when refused", async () => {
    await open({ ...at("graph"), prepare: withLoot });
    await settled("loot");
    // A notice moves the whole board, so a place is measured from another system.
    const below = async () => (await middleOf("loot")).y - (await middleOf("move")).y;
    const dragDown = async (by: number) => {
      const from = await middleOf("loot");
      await drag(from, { x: from.x, y: from.y + by });
    };
    const start = await below();
    await dragDown(90);
    await expect.poll(() => gameplan().writes[0]?.[0]).toBe("arrange_systems");
    const [, args, key] = gameplan().writes[0] ?? [];
    expect(args).toMatchObject({ projectId: "p1", places: [{ systemId: "loot" }] });
    expect(key).toMatch(/^[0-9a-f]{32}$/);
    const { places } = args as { places: { place: { x: number; y: number } }[] };
    gameplan().places.set("loot", places[0]?.place ?? {});
    gameplan().announce("board", "p1");
    await button("Tidy up").waitFor();
    // Once after the call and once after the announced change.
    await expect.poll(() => visit.api.requestsTo(/get_board/).length).toBe(4);
    await expect.poll(async () => Math.abs((await below()) - start - 90)).toBeLessThan(4);
    gameplan().answers.set("arrange_systems", () => ({ error: "Nobody may move this." }));
    await dragDown(60);
    await visit.page.getByRole("alert").getByText("Nobody may move this.").waitFor();
    await sees("The board was not changed.");
    await expect.poll(async () => Math.abs((await below()) - start - 90)).toBeLessThan(4);
  });

  it("refuses a circle where it is drawn, by name, and sends nothing", async () => {
    await open({ ...at("graph"), prepare: withLoot });
    await settled("move");
    const [from, to] = [await middleOf("move"), await middleOf("fight")];
    await drag({ x: from.left, y: from.y }, to);
    await sees(
      "Movement cannot depend on Combat Engine: the systems would depend on each other in a circle, Combat Engine → Movement → Combat Engine.",
    );
    expect(gameplan().writes).toEqual([]);
  });

  it("draws and removes a dependency, by pointer and by keyboard", async () => {
    await open({ ...at("graph"), prepare: withLoot });
    await settled("loot");
    const [from, to] = [await middleOf("loot"), await middleOf("move")];
    await drag({ x: from.left, y: from.y }, to);
    const link = { sourceSystemId: "loot", targetSystemId: "move" };
    await expect
      .poll(() => gameplan().writes[0]?.slice(0, 2))
      .toEqual(["add_dependency", { ...link, type: "requires" }]);
    gameplan().edges = [...gameplan().edges, { ...link, type: "requires" }];
    gameplan().announce("dependency");
    const panel = main().getByRole("complementary", { name: "Selected system" });
    const cut = panel.getByRole("button", { name: "Remove: Loot requires Movement" });
    await cut.press("Enter");
    await expect.poll(() => gameplan().writes[1]?.slice(0, 2)).toEqual(["remove_dependency", link]);
    await panel.getByLabel("Kind of dependency").selectOption("Can use");
    await panel.getByLabel("What Loot depends on").selectOption("Combat Engine");
    // What is chosen stays chosen when the board is drawn again.
    gameplan().systems = [...gameplan().systems, systemOf("fog", "Fog")];
    gameplan().announce("system");
    await box("fog").waitFor();
    await panel.getByRole("button", { name: "Add" }).press("Enter");
    await expect
      .poll(() => gameplan().writes[2]?.[1])
      .toEqual({ sourceSystemId: "loot", targetSystemId: "fight", type: "optional" });
  });

  it("changes the kind of a dependency in place, also twice in a row, and says a refusal", async () => {
    const link = { sourceSystemId: "fight", targetSystemId: "move" };
    const row = { id: "d1", ...link };
    await open({
      ...at("graph/fight"),
      prepare({ gameplan: scripted }) {
        scripted.edges = [{ ...row, type: "requires", revision: 1 }];
        scripted.answers.set("edit_row", ({ type, revision }) => {
          const next = Number(revision) + 1;
          scripted.edges = [{ ...row, type, revision: next }];
          return { revision: next };
        });
      },
    });
    const kind = main().getByLabel("Kind: Combat Engine and Movement");
    await kind.waitFor();
    await expect.poll(() => gameplan().followers).toBe(1);
    const held = gameplan().hold("edit_row");
    await kind.selectOption("enhances");
    await held.asked;
    await kind.selectOption("can use");
    held.release();
    await expect.poll(() => gameplan().writes.length).toBe(2);
    const sent = gameplan().writes.map(([tool, args]) => [tool, args]);
    const call = { entity: "dependency", id: "d1" };
    expect(sent).toEqual([
      ["edit_row", { ...call, revision: 1, type: "enhances" }],
      ["edit_row", { ...call, revision: 2, type: "optional" }],
    ]);
    gameplan().announce("dependency");
    await main()
      .getByRole("list", { name: "In the order of building" })
      .getByText("can use Movement")
      .waitFor();
    gameplan().answers.set("edit_row", () => ({ error: "Somebody changed this." }));
    await kind.selectOption("requires");
    await visit.page.getByRole("alert").getByText("Somebody changed this.").waitFor();
    await expect.poll(() => kind.inputValue()).toBe("optional");
  });

  it("moves a system and zooms by keyboard, as one call for presses in a row", async () => {
    await open(at("graph/fight"));
    await main().locator(".surface").focus();
    for (const key of ["ArrowRight", "ArrowRight", "ArrowDown", "+"]) {
      await visit.page.keyboard.press(key);
    }
    await expect.poll(() => gameplan().writes.length).toBe(1);
    expect(gameplan().writes[0]?.[0]).toBe("arrange_systems");
    await expect.poll(() => main().getByLabel("Zoom", { exact: true }).textContent()).toBe("125%");
    await button("Show all").click();
    await expect.poll(() => main().getByLabel("Zoom", { exact: true }).textContent()).toBe("100%");
  });

  it("keeps a system that is chosen while the board is read", async () => {
    await open({ ...at("graph"), prepare: withLoot });
    await settled("loot");
    const held = visit.api.gameplan.hold("get_board");
    gameplan().announce("board", "p1");
    await held.asked;
    await box("loot").click();
    await main().getByRole("complementary", { name: "Selected system" }).waitFor();
    gameplan().systems = [...gameplan().systems, systemOf("fog", "Fog")];
    held.release();
    await box("fog").waitFor();
    await main().getByRole("heading", { name: "Loot" }).waitFor();
    expect(hash()).toBe("#/p1/graph/loot");
  });

  it("keeps filters and the chosen system in the address, and finds what it does not show", async () => {
    await open({
      ...at("graph"),
      prepare: ({ gameplan: scripted }) => {
        scripted.systems = Array.from({ length: 300 }, (_, n) => systemOf(`s${n}`, `System ${n}`));
        scripted.edges = Array.from({ length: 900 }, (_, n) => ({
          sourceSystemId: `s${(n % 290) + 5}`,
          targetSystemId: `s${Math.floor((n % 290) / 3)}`,
          type: "requires",
        }));
        scripted.answers.set("list_game_systems", () => ({ items: [{ id: "far" }], total: 1 }));
      },
    });
    await box("s0").waitFor();
    // Only what is in sight is drawn, and a little around it.
    const boxes = () => main().locator("[data-node]").count();
    expect(await boxes()).toBeLessThan(150);
    await button("Show all").click();
    await expect.poll(boxes).toBe(300);
    const isWhole = `(root) => {
      const bottomOf = (element) => element.getBoundingClientRect().bottom;
      const bottom = bottomOf(root.querySelector(".surface"));
      return [...root.querySelectorAll("[data-node]")].every((box) => bottomOf(box) <= bottom);
    }`;
    expect(await visit.inside<boolean>(isWhole)).toBe(true);
    // Too small to read, a box has no parts, and the arrows of one kind are one line.
    const elements = () => main().locator(".surface svg *").count();
    expect(await elements()).toBeLessThan(620);
    const arrows = () => main().locator(".joined path").first().getAttribute("d");
    const before = await arrows();
    await box("s0").hover();
    await visit.page.mouse.down();
    await visit.page.mouse.move(300, 500, { steps: 3 });
    await expect.poll(arrows).not.toBe(before);
    await visit.page.mouse.up();
    await expect.poll(() => gameplan().writes.length).toBe(1);
    await box("s7").click();
    await expect.poll(() => box("s7").textContent()).toContain("System 7System 7");
    expect(await elements()).toBeLessThan(750);
    await visit.page.keyboard.press("Escape");
    for (let step = 0; step < 12; step += 1) await button("Zoom in").click();
    await expect.poll(boxes).toBeLessThan(150);
    const find = main().getByLabel("Find a system on the board");
    await find.fill("System 150");
    await find.press("Enter");
    await expect.poll(hash).toBe("#/p1/graph/s150");
    await main().getByLabel("Layer").selectOption("Core");
    await expect.poll(hash).toBe("#/p1/graph/s150?layer=core");
    await find.fill("Somewhere else");
    await find.press("Enter");
    await expect.poll(hash).toBe("#/p1/graph/far");
    const asked = () =>
      visit.api.requestsTo(/get_board/).map(({ body }) => JSON.parse(body).arguments);
    await expect.poll(() => asked().at(-1)).toEqual({ projectId: "p1", near: "far" });
  });
});

describe("an address", () => {
  it("names its project, also where it was sent without one", async () => {
    await open({ at: "gameplan#//systems/fight" });
    await sees("What Combat Engine does.");
    expect(hash()).toBe("#/p1/systems/fight");
  });

  it("of a thing in another project goes to that project", async () => {
    await open({
      ...at("systems/fight"),
      prepare: ({ gameplan: scripted }) => {
        scripted.systems = [systemOf("fight", "Combat Engine", { projectId: "p2" })];
      },
    });
    await sees("What Combat Engine does.");
    expect(hash()).toBe("#/p2/systems/fight");
    expect(await visit.page.getByRole("combobox", { name: "Project" }).inputValue()).toBe("p2");
  });

  it("of an unknown project says so, and shows no other one", async () => {
    await open({ at: "gameplan#/gone/systems" });
    await sees("This project is not known");
    expect(visit.api.requestsTo(/list_game_systems/)).toEqual([]);
  });

  it("keeps search, filters and order", async () => {
    await open(at("systems"));
    await main().getByLabel("Search systems").fill("Move");
    await expect.poll(() => main().getByRole("listitem").count()).toBe(1);
    // Faster than the list is drawn again.
    await visit.inside(`(root) => {
      for (const [label, value] of [["Status", "draft"], ["Order", "name"]]) {
        const choice = root.querySelector('[aria-label="' + label + '"]');
        choice.value = value;
        choice.dispatchEvent(new Event("change"));
      }
    }`);
    await expect.poll(hash).toBe("#/p1/systems?search=Move&status=draft&sort=name");
    await visit.page.reload();
    await sees("Movement");
    expect(await main().getByLabel("Search systems").inputValue()).toBe("Move");
    const asked = visit.api.requestsTo(/list_game_systems/).at(-1)?.body ?? "";
    expect(JSON.parse(asked)).toMatchObject({ arguments: { search: "Move", status: "draft" } });
  });
});

describe("plans and ideas", () => {
  it("are filtered and sorted, and the address keeps it", async () => {
    const plans = ["0.9", "0.10", "0.2"].map((version) => ({ id: `v${version}`, version }));
    const threads = ["Weather", "Boss"].map((title) => ({ id: title, title, status: "open" }));
    await open({
      ...at("plans"),
      prepare(api) {
        answerPages("list_version_plans", plans)(api);
        answerPages("list_idea_threads", threads)(api);
      },
    });
    const names = (list: string) =>
      main().getByRole("list", { name: list }).locator(".row-name").allTextContents();
    await main().getByLabel("Order").selectOption("Sorted by version");
    await main().getByLabel("Status").selectOption("Draft");
    await expect.poll(() => names("Version plans")).toEqual(["0.2", "0.9", "0.10"]);
    await expect.poll(hash).toBe("#/p1/plans?sort=version&status=draft");
    const asked = visit.api.requestsTo(/list_version_plans/).at(-1)?.body ?? "";
    expect(JSON.parse(asked)).toMatchObject({ arguments: { status: "draft" } });
    await visit.page.goto(`${visit.api.url}gameplan#/p1/ideas?sort=title&status=open`);
    await expect.poll(() => names("Threads")).toEqual(["Boss", "Weather"]);
    expect(await main().getByLabel("Threads", { exact: true }).first().inputValue()).toBe("open");
  });
});

describe("the search", () => {
  const field = () => visit.page.getByLabel("Search the project");
  const hit = { entity: "idea_message", id: "m2", name: "The boss", threadId: "t1", number: 2 };
  const items = [
    { entity: "system", id: "fight", name: "Combat Engine", field: "inputs", excerpt: "My sword" },
    { ...hit, field: "text", excerpt: "Is a <b>mine</b> deep?" },
  ];
  const find = ({ gameplan: scripted }: Visit["api"]): void => {
    scripted.answers.set("search_project", ({ text }) => ({
      items: text === "mine" ? items : [],
      more: ["idea_message"],
    }));
  };

  it("finds a text everywhere from any part, and leads to its place by keyboard", async () => {
    await open({ ...at("plans"), prepare: find });
    await field().fill("mine");
    const messages = main().getByRole("list", { name: "Messages" });
    await expect.poll(() => messages.locator("mark").allTextContents()).toEqual(["mine"]);
    await main().getByRole("list", { name: "Systems" }).getByText("Inputs").waitFor();
    await sees("There are more than 1.");
    expect(hash()).toBe("#/p1/search?text=mine");
    for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await visit.page.keyboard.press(key);
    await main().locator(".message-found").getByText("Mine").waitFor();
    expect(hash()).toBe("#/p1/ideas/thread%3At1?message=2&pages=1");
    expect(await field().inputValue()).toBe("");
    await visit.page.goBack();
    await messages.waitFor();
    expect(await field().inputValue()).toBe("mine");
  });

  it("says that nothing was found, and keeps its text in the address", async () => {
    await open({ ...at("search?text=nowhere"), prepare: find });
    await sees('Nothing in this project says "nowhere".');
    expect(await field().inputValue()).toBe("nowhere");
    const asked = visit.api.requestsTo(/search_project/)[0]?.body ?? "";
    expect(JSON.parse(asked)).toMatchObject({ arguments: { projectId: "p1", text: "nowhere" } });
  });
});

describe("a long list", () => {
  it.each([
    ["ideas", "list_idea_threads", "title"],
    ["activity", "get_project_activity", "summary"],
    ["plans", "list_version_plans", "version"],
    ["exports", "list_exports", "title"],
    ["bin", "list_bin", "name"],
    ["systems", "list_game_systems", "name"],
  ])("of %s is read to its end, page by page", async (section, tool, field) => {
    const rows = Array.from({ length: 250 }, (_, n) => ({ id: `r${n}`, [field]: `Row ${n};` }));
    await open({ ...at(section), prepare: answerPages(tool, rows) });
    await sees("100 of 250");
    await button("Show more").click();
    await sees("200 of 250");
    await button("Show more").click();
    await sees("Row 249;");
    expect(await button("Show more").count()).toBe(0);
    await visit.page.reload();
    await sees("Row 249;");
  });
});

describe("a large project", () => {
  const many = (count: number, make: (index: number) => object): readonly object[] =>
    Array.from({ length: count }, (_, index) => make(index));

  /** Counts the elements of a part of a project of this size, as the server sends it. */
  async function elementsOf(address: string, size: { systems: number; threads: number }) {
    const systems = many(size.systems, (index) => systemOf(`s${index}`, `System ${index}`));
    const threads = many(size.threads, (index) => ({ id: `t${index}`, title: `Thread ${index}` }));
    // One picture has 300 systems and 1,200 dependencies at most.
    const nodes = many(Math.min(size.systems, 300), (index) => {
      const shown = { systemId: `s${index}`, position: index, place: null };
      return systemOf(`s${index}`, `System ${index}`, shown);
    });
    const edges = many(Math.min(3 * size.systems, 1_200), (index) => ({
      sourceSystemId: `s${(index % (nodes.length - 5)) + 1 + (index % 4)}`,
      targetSystemId: `s${index % (nodes.length - 5)}`,
      type: "requires",
    }));
    await open({
      ...at(address),
      prepare(api) {
        answerPages("list_game_systems", systems)(api);
        answerPages("list_idea_threads", threads)(api);
        const totals = { nodeTotal: size.systems, edgeTotal: 3 * size.systems };
        api.gameplan.answers.set("get_board", () => ({ nodes, edges, ...totals }));
      },
    });
    await main()
      .getByText(/System 1|Thread 1/)
      .first()
      .waitFor({ state: "attached" });
    return visit.inside<number>(
      `(root) => root.querySelector("main").querySelectorAll("*").length`,
    );
  }

  it.each([
    ["systems", 100],
    ["ideas", 100],
    ["graph", 400],
  ])("draws in %s no more elements than one page of it has", async (address, page) => {
    const one = await elementsOf(address, { systems: page, threads: page });
    await visit.close();
    const all = await elementsOf(address, { systems: 1_000, threads: 2_000 });
    expect(all - one).toBeLessThan(40);
  });
});

describe("the data of a project", () => {
  it.each([
    ["All data as JSON", '"name": "Movement"', "json"],
    ["Systems as CSV", "move,Movement", "csv"],
    ["Graph as Mermaid", 's1["Movement"]', "mmd"],
  ])("is shown before it is downloaded: %s", async (words, shown, ending) => {
    const text = JSON.stringify({ systems: [{ id: "move", name: "Movement" }] });
    await open({
      ...at("exports"),
      prepare: ({ gameplan: scripted }) => {
        scripted.answers.set("export_data", ({ part }) => {
          const cut = part === 1 ? text.slice(0, 9) : text.slice(9);
          return { characters: text.length, parts: 2, text: cut };
        });
      },
    });
    await main().getByRole("link", { name: words }).click();
    await expect.poll(() => main().getByLabel("Preview").textContent()).toContain(shown);
    const saved = visit.page.waitForEvent("download");
    await button(`Download ${words}`).click();
    expect((await saved).suggestedFilename()).toMatch(new RegExp(`^game-[\\d-]+[.]${ending}$`));
  });
});

describe("what failed without a connection", () => {
  const goOffline = async (): Promise<void> => {
    const context = visit.page.context();
    onTestFinished(() => context.setOffline(false));
    await expect.poll(() => gameplan().followers).toBe(1);
    await context.setOffline(true);
  };
  it("is sent again by itself, once, when the line is back", async () => {
    await open(at("systems/fight?edit=1"));
    await goOffline();
    await main().getByLabel("Purpose").fill("Written on a train");
    await button("Save").click();
    await visit.page.getByText("The page tries this again by itself").waitFor();
    expect(gameplan().writes).toEqual([]);
    await visit.page.context().setOffline(false);
    await button("Edit").waitFor();
    expect(new Set(gameplan().writes.map(([, , key]) => key)).size).toBe(1);
    expect(gameplan().writes[0]?.[1]).toMatchObject({ purpose: "Written on a train" });
  });

  it("is read again by itself", async () => {
    await open(at("systems"));
    await sees("Combat Engine");
    await goOffline();
    await visit.page.getByRole("link", { name: "Plans" }).click();
    await button("Try again").waitFor();
    await visit.page.context().setOffline(false);
    await sees(/First playable/);
  });
});
