import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { GERMAN } from "../../src/widget/texts/german.ts";
import type { Visit } from "./open-page.ts";
import * as say from "./run-events.ts";
import { createApproval } from "./scripted-approvals.ts";
import { usePage } from "./use-page.ts";
import { startWaitingRun } from "./waiting-run.ts";

let visit: Visit;
const open = usePage((opened) => {
  visit = opened;
});

/** The names in the first column of the tables of a section of docs/embedding.md. */
function namesIn(section: string): readonly string[] {
  const document = readFileSync("docs/embedding.md", "utf8");
  const [, text = ""] = document.split(`\n## ${section}\n`);
  const [own = ""] = text.split("\n## ");
  return [...own.matchAll(/^\| `([^`]+)`/gm)].map(([, name = ""]) => name).sort();
}

function words(text: string): string[] {
  return text.split(" ");
}

/** Opens a page of an embedder that holds `body`. */
async function openPage(body: string): Promise<void> {
  const page = `<!doctype html><meta charset="utf-8" /><title>Shop</title><body>${body}</body>`;
  await open({ at: "shop", prepare: (api) => api.scripts.set("/shop", page) });
}

const CHAT = `document.querySelector("interlock-chat")`;
const LAUNCHER = `document.querySelector("interlock-launcher")`;
const within = <T>(code: string): Promise<T> => visit.page.evaluate<T>(code);
const button = (name: string) => visit.page.getByRole("button", { name, exact: true });
const field = () => visit.page.getByRole("textbox", { name: "Message" });
const focused = (place: ReturnType<typeof field>) =>
  place.and(visit.page.locator(":focus")).waitFor();
const boxOf = (selector: string) =>
  within<Record<"left" | "right" | "top" | "bottom" | "width" | "height", number>>(
    `(({ left, right, top, bottom, width, height }) =>
      ({ left, right, top, bottom, width, height }))(${selector}.getBoundingClientRect())`,
  );

describe("one script tag", () => {
  const TAG = `<script src="/embed.js" data-assistant="shop" data-model="fast" data-tools="a b"
    data-connections="crm" data-workspace="w1" data-token="/chat-token" data-label="Help"
    data-scheme="dark" defer></script>`;

  it("gives a button that loads and opens the chat, with all that the tag says", async () => {
    await open({
      at: "shop",
      prepare(api) {
        api.scripts.set("/shop", `<!doctype html><title>Shop</title><body>${TAG}</body>`);
        api.scripts.set("/chat-token", '{"token":"from-our-server"}');
        api.token = "from-our-server";
      },
    });
    const asked: string[] = [];
    visit.page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await button("Help").waitFor();
    expect(asked).toEqual([]);
    await button("Help").click();
    await visit.page.getByRole("dialog", { name: "Help" }).waitFor();
    await focused(field());
    const run = await visit.ask("Where is my order?");
    const [request] = visit.api.requestsTo(/POST \/v1\/chat/);
    expect(request?.authorization).toBe("Bearer from-our-server");
    expect(JSON.parse(request?.body ?? "")).toMatchObject({
      assistantId: "shop",
      model: "fast",
      toolIds: ["a", "b"],
      connectionIds: ["crm"],
      workspaceId: "w1",
    });
    // One token serves many requests.
    expect(asked.filter((path) => path === "/chat-token")).toHaveLength(1);
    expect(await within(`getComputedStyle(${CHAT}).colorScheme`)).toBe("dark");

    // Escape closes a list first, and then the chat.
    await button("Chats").click();
    await visit.page.getByRole("dialog", { name: "Chats" }).waitFor();
    await visit.page.keyboard.press("Escape");
    await visit.page.getByRole("dialog", { name: "Chats" }).waitFor({ state: "detached" });
    await visit.page.keyboard.press("Escape");
    await visit.page.getByRole("dialog", { name: "Help" }).waitFor({ state: "hidden" });
    await focused(button("Help"));
    run.emit(say.startText(0), say.text(0, "It is on its way."), say.end());
    await button("Help: new answer").click();
    await visit.page.getByText("It is on its way.").first().waitFor();
    await button("Help").waitFor();
    await visit.page.reload();
    await visit.page.getByText("It is on its way.").first().waitFor();
    await button("Close the chat").click();
    await visit.page.reload();
    await button("Help").waitFor();
    expect(await within(`${LAUNCHER}.isOpen`)).toBe(false);
    // The scripts of the page need not wait until the chat is loaded.
    await within(`${LAUNCHER}.send("And my invoice?")`);
    await expect.poll(() => visit.api.runs.length).toBe(2);
    await within(`${LAUNCHER}.newChat()`);
    await visit.page.getByRole("heading", { name: "What would you like to know?" }).waitFor();
    await within(`${LAUNCHER}.close()`);
    expect(await within(`${LAUNCHER}.isOpen`)).toBe(false);
    await within(`${LAUNCHER}.open()`);
    expect(await within(`${LAUNCHER}.isOpen`)).toBe(true);
  });

  it("stands where mode and side say, and covers a phone", async () => {
    await openPage(`<script src="/embed.js" data-tokenless data-open defer></script>`);
    await field().waitFor();
    await expect.poll(() => visit.api.requestsTo(/\/v1\/page/).length).toBe(1);
    const { width, height } = visit.page.viewportSize() ?? { width: 0, height: 0 };
    const panel = `${LAUNCHER}.shadowRoot.querySelector("[part=window]")`;
    const bubble = `${LAUNCHER}.shadowRoot.querySelector("[part=bubble]")`;
    expect((await boxOf(bubble)).right).toBe(width - 20);
    expect((await boxOf(panel)).bottom).toBeLessThan((await boxOf(bubble)).top);
    await within(`${LAUNCHER}.setAttribute("side", "start")`);
    expect([(await boxOf(bubble)).left, (await boxOf(panel)).left]).toEqual([20, 20]);
    await within(`${LAUNCHER}.setAttribute("mode", "panel")`);
    expect(await boxOf(panel)).toMatchObject({ left: 0, top: 0, height });
    expect(await within(`${bubble}.checkVisibility()`)).toBe(false);
    await visit.page.setViewportSize({ width: 390, height: 700 });
    expect(await boxOf(panel)).toMatchObject({ left: 0, top: 0, width: 390, height: 700 });
    await within(`${LAUNCHER}.setAttribute("mode", "bubble")`);
    expect(await boxOf(panel)).toMatchObject({ left: 0, top: 0, width: 390, height: 700 });
  });

  it("puts an inline chat where it stands, and names its server", async () => {
    await openPage(`<main><h1>Shop</h1>
      <script src="/embed.js" data-mode="inline" data-endpoint="/assistant/" defer></script></main>`);
    await visit.page.route("**/assistant/v1/chat", (route) => route.fulfill({ status: 500 }));
    await field().waitFor();
    expect(await within(`${CHAT}.parentElement.localName`)).toBe("main");
    // A page that sets no height gets 40rem.
    expect((await boxOf(CHAT)).height).toBe(640);
    const asked = visit.page.waitForRequest("**/assistant/v1/chat");
    await field().fill("hello");
    await field().press("Enter");
    await asked;
  });

  it("says what is wrong with it", async () => {
    await openPage(`<script src="/embed.js" data-mode="window" defer></script>`);
    await expect
      .poll(() => visit.takeComplaints())
      .toEqual(["data-mode is one of bubble, panel, inline: window"]);
  });

  it("says that the chat could not be loaded, and loads it again", async () => {
    await openPage(`<script src="/embed.js" data-tokenless defer></script>`);
    let fails = true;
    await visit.page.route("**/widget.js*", (route) => (fails ? route.abort() : route.continue()));
    await button("Chat").click();
    await visit.page.getByRole("alert").getByText("could not be loaded").waitFor();
    await button("Chat").click();
    fails = false;
    await button("Chat").click();
    await field().waitFor();
  });

  it("has each row of its tables in these tests", () => {
    const attributes = words("mode side label open token endpoint scheme tokenless");
    const members = words("open close send newChat isOpen");
    expect(namesIn("The script tag")).toEqual(
      [...attributes.map((name) => `data-${name}`), ...members].sort(),
    );
  });
});

describe("the element", () => {
  it("tells the page what happens, once, and nothing of what it only shows", async () => {
    await open();
    const record = `window.told = [];
      for (const name of ["run", "tool", "approval", "error", "close"]) {
        ${CHAT}.addEventListener(name, ({ type, detail }) => told.push([type, detail]));
      }`;
    await within(record);
    const told = async (): Promise<readonly (readonly [string, Record<string, unknown>])[]> =>
      // States that pass between two reads of the network are not told.
      within(
        `told.splice(0).filter(([, detail]) => !["requested", "running"].includes(detail?.state))`,
      );
    await startWaitingRun(visit);
    await visit.page.getByText("Waiting for approval…").waitFor();
    const runId = "run_1";
    const waiting = await told();
    expect(waiting.map(([type, detail]) => [type, detail["state"] ?? detail["status"]])).toEqual([
      ["run", "started"],
      ["tool", "awaiting_approval"],
      ["approval", "pending"],
      ["run", "waiting"],
    ]);
    expect(waiting.at(-2)?.[1]).toMatchObject({ runId, toolId: "pay__refund", status: "pending" });
    await visit.page.reload();
    await visit.page.getByText("Waiting for approval…").waitFor();
    await within(record);
    const run = visit.api.runs[0];
    run?.resume();
    run?.emit(say.startTool(0, { orderId: "7" }), say.finishTool(0, { state: "sent" }), say.end());
    await button("Stop").waitFor({ state: "hidden" });
    const rest = await told();
    expect(rest.map(([type, detail]) => [type, detail["state"], detail["reason"]])).toEqual([
      ["tool", "done", undefined],
      ["run", "ended", "stop"],
    ]);
    expect(rest[0]?.[1]).toMatchObject({ toolCallId: "call_0", result: { state: "sent" }, runId });
    visit.api.eventsStatus = 403;
    (await visit.ask("And now?")).drop();
    await button("Try again").waitFor();
    expect((await told()).filter(([type]) => type === "error")).toEqual([
      ["error", { code: "connection", message: expect.any(String), runId: "run_2" }],
    ]);
    // A reload shows both turns, and tells nothing.
    visit.api.eventsStatus = undefined;
    visit.api.runs[1]?.emit(say.end());
    await visit.page.reload();
    await within(record);
    await button("Copy question").nth(1).waitFor();
    expect(await told()).toEqual([]);
    await within(`${CHAT}.setAttribute("closable", "")`);
    await button("Close the chat").click();
    expect(await told()).toEqual([["close", undefined]]);
  });

  it("does what its methods say, and has what its attributes say", async () => {
    await openPage(`<script type="module" src="/widget.js"></script>
      <interlock-chat tokenless scheme="light" takes-focus></interlock-chat>`);
    await focused(field());
    expect(await within(`getComputedStyle(${CHAT}).colorScheme`)).toBe("light");
    await within(`${CHAT}.suggest(["Where is my parcel?"])`);
    await button("Where is my parcel?").waitFor();
    expect(await within(`${CHAT}.send("  ")`)).toBe(false);
    // During an answer a message steers it, also while the run has only begun.
    const sent = `["Where is it?", "Hurry"].map((text) => ${CHAT}.send(text))`;
    expect(await within(`Promise.all(${sent})`)).toEqual([true, true]);
    expect(visit.api.runs).toHaveLength(1);
    await visit.page.getByText("Hurry").first().waitFor();
    visit.api.runs[0]?.emit(say.startText(0), say.text(0, "At the door."), say.end());
    await visit.page.getByText("At the door.").first().waitFor();
    await within(`${CHAT}.newChat()`);
    await button("Where is my parcel?").waitFor();
    await within(`${CHAT}.openChat("run_1")`);
    await visit.page.getByText("At the door.").first().waitFor();
    await within(`(document.activeElement.blur(), ${CHAT}.focus())`);
    await focused(field());
    // Another id is another chat.
    await within(`{ const other = document.createElement("interlock-chat"); other.id = "two";
      ${CHAT}.remove(); sessionStorage.setItem(
        "interlock-chat:two:" + location.origin + "/:chat", "{}"); document.body.append(other); }`);
    await visit.page.getByRole("heading", { name: "What would you like to know?" }).waitFor();
  });

  it("shows the page's own elements in its slots", async () => {
    await openPage(`<script type="module" src="/widget.js"></script>
      <script type="module" src="/cards.js"></script>
      <interlock-chat tokenless><b slot="logo">Shop</b><i slot="empty">Ask us</i>
        <p slot="footer">Check it</p><u slot="card-map-call_0">The map</u></interlock-chat>`);
    for (const name of ["Shop", "Ask us", "Check it"]) await visit.page.getByText(name).waitFor();
    expect(await visit.page.getByRole("heading", { name: "What would" }).isVisible()).toBe(false);
    await within(`import("/widget.js").then(({ defineToolCard }) =>
      defineToolCard("shop__track", { result: ({ toolCallId }) =>
        [["slot", { name: "card-map-" + toolCallId }, "No map"]] }))`);
    const run = await visit.ask("Where?");
    run.emit(say.proposeTool(0, "shop__track"), say.startTool(0, {}), say.finishTool(0, { at: 1 }));
    await visit.page.getByText("The map").waitFor();
  });

  it("speaks German where the page does, and says what the page says in place of its texts", async () => {
    await openPage(`<script type="module" src="/widget.js"></script>
      <div lang="de"><interlock-chat tokenless></interlock-chat></div>`);
    await within(`${CHAT}.texts = { "New chat": "Von vorn", "No such text": "x" }`);
    const message = visit.page.getByRole("textbox", { name: "Nachricht" });
    await message.waitFor();
    await expect
      .poll(() => visit.takeComplaints())
      .toEqual(['The chat has no text "No such text". Compare it with the English one.']);
    const approval = visit.api.approvals.put(createApproval());
    await message.fill("Bitte erstatten");
    await message.press("Enter");
    await expect.poll(() => visit.api.runs.length).toBe(1);
    visit.api.runs[0]?.emit(say.proposeTool(0, "pay__refund"), say.requestApproval(approval));
    const asked = visit.page.getByRole("dialog");
    await asked.getByRole("button", { name: "Zustimmen" }).waitFor();
    for (const text of ["Folge", "Es lässt sich nicht rückgängig machen.", /^verborgen: /]) {
      await asked.getByText(text).first().waitFor();
    }
    // Its author wrote this.
    await asked.getByText("Ann gets 40 EUR back.").first().waitFor();
    await button("Von vorn").waitFor();
    const shown: string[] = [];
    const collect = async (): Promise<void> => void shown.push(...(await within<string[]>(TEXTS)));
    await collect();
    visit.api.runs[0]?.emit(
      say.updateApproval({ ...approval, status: "rejected" }),
      say.failTool(0, "Nein."),
      say.startText(1),
      say.text(1, "- [x] Fertig"),
      say.end(),
    );
    await button("Antwort kopieren").waitFor();
    await button("Bearbeiten").click();
    await button("Gute Antwort").click();
    await collect();
    await button("Chats").click();
    await visit.page.getByRole("dialog", { name: "Chats" }).waitFor();
    await collect();
    expect(shown.length).toBeGreaterThan(60);
    const english = new Set(Object.keys(GERMAN).filter((text) => text !== "Chats"));
    expect(shown.filter((text) => english.has(text))).toEqual([]);
  });

  it("takes each custom property, and each part is there to be styled", async () => {
    await openPage(`<script src="/embed.js" data-tokenless data-open defer></script>`);
    await field().waitFor();
    visit.api.eventsStatus = 403;
    const run = await visit.ask("Hello");
    run.emit(say.proposeTool(0, "core__any"), say.startTool(0, {}), say.startText(1));
    run.emit(say.text(1, "Here it is."));
    await visit.page.getByText("Here it is.").first().waitFor();
    const style = (css: string): Promise<unknown> =>
      within(`{ const sheet = new CSSStyleSheet(); sheet.replaceSync(${JSON.stringify(css)});
        document.adoptedStyleSheets = [sheet]; }`);
    const read = (host: string, selector: string, property: string): Promise<string> =>
      within(
        `getComputedStyle(${selector === "" ? host : `${host}.shadowRoot.querySelector("${selector}")`}).getPropertyValue("${property}")`,
      );
    const looks = [...Object.entries(LOOKS), ...Object.entries(LAUNCHER_LOOKS)];
    const set = looks.map(([name, [value]]) => `--interlock-${name}: ${value};`).join("");
    await style(`interlock-launcher { ${set} }`);
    const seen: Record<string, string> = {};
    for (const [name, [, selector, property]] of looks) {
      const host = name.startsWith("launcher-") ? LAUNCHER : CHAT;
      seen[name] = await read(host, selector, property);
    }
    expect(seen).toEqual(
      Object.fromEntries(looks.map(([name, [value, , , computed = value]]) => [name, computed])),
    );
    const marks = PARTS.map((part) => `interlock-chat::part(${part})`).join(",");
    await style(`${marks} { scroll-margin-top: 7px }`);
    for (const part of PARTS) {
      expect([part, await read(CHAT, `[part~='${part}']`, "scroll-margin-top")]).toEqual([
        part,
        "7px",
      ]);
    }
    await style(`interlock-launcher::part(bubble), interlock-launcher::part(badge),
      interlock-launcher::part(window) { scroll-margin-top: 7px }`);
    for (const part of ["bubble", "badge", "window"]) {
      expect(await read(LAUNCHER, `[part=${part}]`, "scroll-margin-top")).toBe("7px");
    }
  });

  it("has each row of the tables in these tests", () => {
    expect(namesIn("Events")).toEqual(words("approval close error run tool"));
    // One script tag passes the first six on; page-sentence has the hosts of images.
    const attributes = words("assistant connections endpoint model tools workspace");
    attributes.push(...words("closable id image-hosts lang scheme takes-focus tokenless"));
    expect(namesIn("Attributes")).toEqual(attributes.sort());
    const members = words("focus newChat openChat send suggest");
    // page-assistant, gameplan, page-undo and page-open-approval have these.
    members.push(...words("texts getToken getContext refreshUndo refreshApprovals"));
    expect(namesIn("Properties and methods")).toEqual(members.sort());
    expect(namesIn("Slots")).toEqual(words("card-… empty footer logo"));
    const looks = [...Object.keys(LOOKS), ...Object.keys(LAUNCHER_LOOKS)];
    expect(namesIn("Style")).toEqual(
      [...looks.map((name) => `--interlock-${name}`), ...PARTS].sort(),
    );
  });
});

/** Every text and label in the chat. The labels of a packet come from the server. */
const TEXTS = `[...${CHAT}.shadowRoot.querySelectorAll(":not(dt)")].flatMap((one) => [
  ...[...one.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data.trim()),
  ...["aria-label", "placeholder", "title"].map((name) => one.getAttribute(name)),
]).filter((text) => text)`;

/** Each custom property: a value, and where the browser shows it. */
const LOOKS: Record<string, readonly [string, string, string, string?]> = {
  accent: ["rgb(1, 2, 3)", ".primary", "background-color"],
  "on-accent": ["rgb(4, 5, 6)", ".primary", "color"],
  background: ["rgb(7, 8, 9)", "", "background-color"],
  text: ["rgb(10, 11, 12)", "", "color"],
  muted: ["rgb(13, 14, 15)", ".status", "color"],
  card: ["rgb(16, 17, 18)", ".tool", "background-color"],
  sunken: ["rgb(19, 20, 21)", ".question", "background-color"],
  line: ["rgb(22, 23, 24)", "header", "border-bottom-color"],
  radius: ["3px", ".composer", "border-top-left-radius"],
  width: ["345px", ".exchanges", "max-width"],
  font: ["cursive", "", "font-family"],
};
const LAUNCHER_LOOKS: Record<string, readonly [string, string, string, string?]> = {
  "launcher-size": ["60px", "[part=bubble]", "width"],
  "launcher-inset": ["30px", "[part=bubble]", "bottom"],
  "launcher-width": ["333px", "[part=window]", "width"],
  "launcher-height": ["444px", "[part=window]", "height"],
  "launcher-layer": ["77", "[part=window]", "z-index"],
};
const PARTS = words(
  "answer button composer empty field header log notice question suggestion tool",
);
