import { describe, expect, it } from "vitest";
import { MEASURE_CONTRAST } from "./measure-contrast.ts";
import type { Visit } from "./open-page.ts";
import * as say from "./run-events.ts";
import type { ScriptedApi } from "./scripted-api.ts";
import { systemOf } from "./scripted-gameplan.ts";
import { usePage } from "./use-page.ts";

let visit: Visit;
const open = usePage((opened) => {
  visit = opened;
});
const ADDRESSES = [
  "systems",
  "systems/fight",
  "graph",
  "plans",
  "plans/v1",
  "ideas",
  "ideas/thread%3At1",
  "ideas/brainstorm%3Ab1",
  "activity",
  "exports",
  "bin",
];
const main = () => visit.page.getByRole("main", { name: "Project" });
const go = async (address: string): Promise<void> => {
  await visit.page.evaluate(`location.hash = "#/p1/${address}"`);
  await main().getByRole("heading", { level: 2 }).waitFor();
};

/** Fills every text that people can write. */
function fill(text: string) {
  return ({ gameplan }: ScriptedApi): void => {
    gameplan.projects = [{ id: "p1", name: text, status: "active" }];
    gameplan.systems = [systemOf("move", text), systemOf("fight", text, { coreMechanics: text })];
    const who = { actor: text, deletedBy: text, createdBy: text };
    const row = { entity: "system", id: "x", name: text, title: text, version: text, ...who };
    const entry = { ...row, entityId: "x", action: "deleted", summary: text, at: "" };
    gameplan.activity = [entry];
    gameplan.bin = [row];
    const page = { items: [{ ...row, tags: [text], kind: text }], total: 1, next: null };
    for (const tool of [
      "list_version_plans",
      "list_idea_threads",
      "list_brainstorms",
      "list_exports",
    ]) {
      gameplan.answers.set(tool, () => page);
    }
  };
}

const HOSTILE = `<img src="x" onerror="alert(1)"><script>alert(2)</script> javascript:alert(3)`;

describe("markup in a project", () => {
  it("stays text everywhere on the page", async () => {
    await open({ at: "gameplan#/p1/systems", prepare: fill(HOSTILE) });
    for (const address of ADDRESSES) {
      await go(address);
      const names = await visit.inside<string[]>(
        `(root) => [...root.querySelectorAll("*")].map((e) => e.localName)`,
      );
      expect(names.filter((name) => /^(script|img|iframe|object|embed|base)$/.test(name))).toEqual(
        [],
      );
      const hrefs = await visit.inside<string[]>(
        `(root) => [...root.querySelectorAll("[href]")].map((e) => e.getAttribute("href"))`,
      );
      expect(hrefs.filter((href) => !href.startsWith("#/"))).toEqual([]);
    }
    await go("systems");
    await main().getByText(HOSTILE).first().waitFor();
  });

  it("stays text in the cards of the chat", async () => {
    await open({ at: "gameplan" });
    const run = await visit.ask("Add it");
    const system = { ...systemOf("x", HOSTILE), purpose: HOSTILE };
    const graph = {
      nodes: [
        { systemId: "x", name: HOSTILE, mvpCriticality: HOSTILE, status: "draft", position: 0 },
      ],
      edges: [],
      nodeTotal: 1,
      edgeTotal: 0,
    };
    [{ system }, graph, { items: [{ name: HOSTILE }], total: 1 }].forEach((data, part) => {
      const tool = ["create_game_system", "get_dependency_graph", "list_game_systems"][part] ?? "";
      const result = {
        description: HOSTILE,
        apiCall: { payload: {} },
        result: { success: true, data },
      };
      run.emit(say.proposeTool(part, `gameplan__${tool}`), say.startTool(part, { name: HOSTILE }));
      run.emit(say.finishTool(part, JSON.parse(JSON.stringify(result))));
    });
    run.emit(say.end());
    await visit.page.getByRole("log").getByText("and 0 more").waitFor({ state: "detached" });
    await expect
      .poll(() => visit.page.getByRole("log").getByText(HOSTILE).count())
      .toBeGreaterThan(5);
    const names = await visit.inside<string[]>(
      `(root) => [...root.querySelector("interlock-chat").shadowRoot.querySelectorAll("*")]
        .map((e) => e.localName)`,
    );
    expect(names.filter((name) => /^(script|img|iframe|object)$/.test(name))).toEqual([]);
  });
});

describe("a phone", () => {
  it("shows the project or the chat, without sideways scrolling", async () => {
    const wide = "unbroken".repeat(14);
    await open({ at: "gameplan", viewport: { width: 360, height: 640 }, prepare: fill(wide) });
    for (const address of ADDRESSES) {
      await go(address);
      const overflow = await visit.inside(
        `(root) => [document.documentElement, ...root.querySelectorAll("*")]
          .filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 1)
          .filter((e) => !e.matches("nav ul, .picture, select, h1"))
          .map((e) => e.outerHTML.slice(0, 80))`,
      );
      expect([address, overflow]).toEqual([address, []]);
    }
    expect(await visit.page.getByLabel("Message").isVisible()).toBe(false);
    await visit.page.getByRole("button", { name: "Chat", exact: true }).click();
    await visit.page.getByLabel("Message").waitFor();
    expect(await main().isVisible()).toBe(false);
    await visit.page.reload();
    await visit.page.getByLabel("Message").waitFor();
  });
});

describe("the keyboard alone", () => {
  it("reaches every section and every system, and the focus moves to what was opened", async () => {
    await open({ at: "gameplan" });
    await main()
      .getByRole("link", { name: /Combat Engine/ })
      .waitFor();
    const { keyboard } = visit.page;
    const focused = () =>
      visit.inside<string>(`(root) => root.activeElement?.textContent.trim() ?? ""`);
    const tabTo = async (text: string): Promise<void> => {
      for (let presses = 0; presses < 40; presses += 1) {
        if ((await focused()) === text) return;
        await keyboard.press("Tab");
      }
      throw new Error(`no focus on ${text}`);
    };
    await tabTo("Graph");
    await keyboard.press("Enter");
    await main().getByRole("img").waitFor();
    await expect.poll(focused).toBe("Dependency graph");
    await tabTo("Combat Engine");
    await keyboard.press("Enter");
    await expect.poll(focused).toBe("Combat Engine");
    await tabTo("Open");
    await keyboard.press("Enter");
    await main().getByRole("heading", { name: "Combat Engine", level: 2 }).waitFor();
    await tabTo("Move to bin");
    await keyboard.press("Enter");
    await expect.poll(() => visit.api.gameplan.writes.length).toBe(1);
  });
});

describe("a reader who goes to the chat while a section is read", () => {
  it("keeps the focus there", async () => {
    await open({ at: "gameplan" });
    await main()
      .getByRole("link", { name: /Combat Engine/ })
      .waitFor();
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await visit.page.route("**/gameplan__get_board/invoke", async (route) => {
      await held;
      await route.continue();
    });
    await visit.page.getByRole("link", { name: "Graph" }).click();
    const message = visit.page.getByRole("textbox", { name: "Message" });
    await message.fill("Delete the ");
    release();
    await main().getByRole("img").waitFor();
    await visit.page.keyboard.type("Movement system");
    expect(await message.inputValue()).toBe("Delete the Movement system");
  });
});

describe("the accessibility tree", () => {
  it("names the parts of the page", async () => {
    await open({ at: "gameplan#/p1/graph" });
    await main().getByRole("img").waitFor();
    const tree = await visit.page.locator("interlock-gameplan").ariaSnapshot();
    for (const line of [
      "- banner:",
      '  - combobox "Project":',
      '- navigation "Sections":',
      '- main "Project":',
      '  - heading "Dependency graph" [level=2]',
      "  - img /Dependency graph: 2 systems, 1 dependency/",
      '- complementary "Assistant":',
    ]) {
      const [, name = line] = /^.*?- (.*?):?$/.exec(line) ?? [];
      expect(tree).toContain(
        name.replace(/^img .*/, 'img "Dependency graph: 2 systems, 1 dependency.'),
      );
    }
  });
});

describe.each(["light", "dark"] as const)("the %s colours", (colorScheme) => {
  it("have a contrast of at least 4.5 to 1 for every text", async () => {
    await open({ at: "gameplan", colorScheme });
    for (const address of ADDRESSES) {
      await go(address);
      const contrasts = await visit.inside<{ text: string; ratio: number }[]>(MEASURE_CONTRAST);
      expect([address, contrasts.filter(({ ratio }) => ratio < 4.5)]).toEqual([address, []]);
    }
  });
});
