import { describe, expect, it } from "vitest";
import { MEASURE_CONTRAST } from "./measure-contrast.ts";
import type { Visit } from "./open-page.ts";
import * as say from "./run-events.ts";
import { usePage } from "./use-page.ts";

let visit: Visit;
const open = usePage((opened) => {
  visit = opened;
});

const HOSTILE = [
  "<script>alert(1)</script>",
  '<img src="x" onerror="alert(1)">',
  "<svg onload=alert(1)>",
  "[click](javascript:alert(1))",
  "[click](/v1/policy) [click](//evil.example) <javascript:alert(1)>",
  "![pixel](https://evil.example/pixel?stolen=1)",
  "[https://bank.example](https://evil.example/login)",
  '<a href="javascript:alert(1)">click</a>',
  "`<b>code</b>` **<i>bold</i>**",
  "- <iframe srcdoc='<script>alert(1)</script>'></iframe>",
  "```\n</code></pre><script>alert(1)</script>\n```",
];

describe("markup in data", () => {
  it("stays text everywhere on the page", async () => {
    await open();
    const loaded: string[] = [];
    visit.page.on("request", (request) => loaded.push(request.url()));
    const html = HOSTILE.join("\n\n");
    const run = await visit.ask(html);
    run.emit(say.setTitle(html), say.proposeTool(0, html), say.startTool(0, { [html]: html }));
    run.emit(say.finishTool(0, { [html]: html, list: [html] }));
    run.emit(say.proposeTool(1, html), say.failTool(1, html));
    run.emit(say.startText(2), say.text(2, html), say.finishText(2), say.end());
    const log = visit.page.getByRole("log");
    const answer = log.getByRole("article", { name: "Assistant" });
    await visit.page.getByRole("button", { name: "Send" }).waitFor();
    const seesAll = async () => {
      for (const text of [
        "<script>alert(1)</script>",
        "[click](javascript:alert(1))",
        "[click](/v1/policy) [click](//evil.example) <javascript:alert(1)>",
        "![pixel](https://evil.example/pixel?stolen=1)",
        "[https://bank.example](https://evil.example/login)",
        "<b>code</b>",
      ]) {
        await answer.getByText(text).last().waitFor();
      }
    };
    await seesAll();
    // The server tells it again, in another form.
    await visit.page.reload();
    await seesAll();
    // The page contains only its own elements and attributes.
    const names = await visit.inside<string[]>(
      `(root) => [...root.querySelectorAll("*")].map((e) => e.localName)`,
    );
    const forbidden = /^(script|img|iframe|object|embed|i|b|style|link|base)$/;
    expect(names.filter((name) => forbidden.test(name))).toEqual([]);
    const attributes = await visit.inside<string[]>(
      `(root) => [...root.querySelectorAll("*")].flatMap((e) => e.getAttributeNames())
        .filter((name) => /^on|^src|^style$/.test(name))`,
    );
    expect(attributes).toEqual([]);
    // A link opens a web page, apart from this one, and says which.
    const links = answer.locator("a");
    for (const link of await links.all()) {
      expect(await link.getAttribute("href")).toMatch(/^https:\/\/evil\.example\//);
      expect(await link.getAttribute("rel")).toBe("noopener noreferrer nofollow");
      expect(await link.locator("xpath=..").textContent()).toMatch(/ \(evil\.example\)$/);
    }
    expect(await links.count()).toBe(2);
    const isOwn = (url: string): boolean => new URL(url).hostname === "127.0.0.1";
    expect(loaded.filter((url) => !isOwn(url))).toEqual([]);
  });
});

describe("the keyboard alone", () => {
  it("is enough for a whole conversation", async () => {
    await open();
    const { keyboard } = visit.page;
    const focused = () =>
      visit.page.evaluate(
        "(() => { const e = document.activeElement.shadowRoot.activeElement;" +
          " return e.getAttribute('aria-label') ?? e.id ?? e.textContent; })()",
      );
    await expect.poll(focused).toBe("message");
    await keyboard.type("one");
    await keyboard.press("Shift+Enter");
    await keyboard.type("two");
    expect(visit.api.runs).toHaveLength(0);
    await keyboard.press("Enter");
    await expect.poll(() => visit.api.runs.length).toBe(1);
    expect(JSON.parse(visit.api.requests[0]?.body ?? "").messages[0].content).toBe("one\ntwo");
    visit.api.runs[0]?.emit(say.startText(0), say.text(0, "On and on"));
    await visit.page.getByRole("button", { name: "Stop" }).waitFor();
    expect(await focused()).toBe("message");
    await keyboard.press("Tab");
    expect(await focused()).toBe("Stop");
    await keyboard.press("Enter");
    await visit.page.getByText("You stopped this answer.").first().waitFor();
    expect(await focused()).toBe("message");
  });

  it("does not send while an input method composes text", async () => {
    await open();
    const field = visit.page.getByLabel("Message");
    await field.fill("にほ");
    const enter = { key: "Enter", bubbles: true, cancelable: true };
    await field.dispatchEvent("keydown", { ...enter, isComposing: true });
    await field.dispatchEvent("keydown", { ...enter, keyCode: 229, which: 229 });
    expect(await field.inputValue()).toBe("にほ");
    expect(visit.api.requests).toEqual([]);
    await field.press("Enter");
    await expect.poll(() => visit.api.requests.length).toBe(1);
  });
});

describe("the accessibility tree", () => {
  it("names the parts of the page, and announces an answer once, at its end", async () => {
    await open();
    const run = await visit.ask("Hello?");
    const status = visit.page.getByRole("status");
    run.emit(say.startText(0), say.text(0, "Good "));
    await visit.page.getByRole("log").getByText(/^Good/).waitFor();
    expect(await status.textContent()).toBe("Answering…");
    run.emit(say.text(0, "day"), say.finishText(0), say.setTitle("A greeting"), say.end());
    await status.getByText("Answer: Good day").waitFor();
    await visit.page.getByRole("button", { name: "Copy answer" }).waitFor();
    expect(await visit.page.locator("interlock-chat").ariaSnapshot()).toBe(
      [
        '- button "Chats"',
        '- heading "A greeting" [level=1]',
        "- paragraph: scripted-model",
        '- button "New chat"',
        '- log "Conversation":',
        '  - article "You":',
        "    - paragraph: Hello?",
        '    - button "Copy question"',
        '    - button "Edit"',
        '  - article "Assistant":',
        "    - paragraph: Good day",
        '    - button "Copy answer"',
        '    - button "Answer again"',
        '    - button "Good answer"',
        '    - button "Bad answer"',
        "- text: Message",
        '- textbox "Message":',
        "  - /placeholder: Ask something…",
        '- button "Send"',
        '- status: "Answer: Good day"',
      ].join("\n"),
    );
  });
});

describe("a phone", () => {
  it("shows everything without sideways scrolling, and its field does not zoom on focus", async () => {
    await open({ viewport: { width: 360, height: 640 } });
    const run = await visit.ask("w".repeat(300));
    const wide = "unbroken".repeat(80);
    run.emit(say.setTitle(wide), say.proposeTool(0, wide), say.startTool(0, { [wide]: wide }));
    run.emit(say.finishTool(0, { [wide]: wide }), say.proposeTool(1, "x"), say.failTool(1, wide));
    run.emit(say.startText(2), say.text(2, `${wide}\n\n\`\`\`\n${wide}\n\`\`\`\n- ${wide}`));
    run.emit(say.finishText(2), say.end("error"));
    await visit.page.getByRole("button", { name: "Try again" }).waitFor();
    const overflow = await visit.inside(
      `(root) => [document.documentElement, ...root.querySelectorAll("*")]
        .filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 1)
        .filter((e) => !["pre", "code", "h1"].includes(e.localName))
        .map((e) => e.outerHTML.slice(0, 80))`,
    );
    expect(overflow).toEqual([]);
    const size = await visit.inside<string>(
      `(root) => getComputedStyle(root.querySelector("textarea")).fontSize`,
    );
    expect(Number.parseFloat(size)).toBeGreaterThanOrEqual(16);
  });
});

describe.each(["light", "dark"] as const)("the %s colours", (colorScheme) => {
  it("have a contrast of at least 4.5 to 1 for every text", async () => {
    await open({ colorScheme });
    const run = await visit.ask("Hello?");
    run.emit(say.proposeTool(0, "core__add"), say.startTool(0, { a: 1 }));
    run.emit(
      say.finishTool(0, { sum: 2 }),
      say.proposeTool(1, "core__add"),
      say.failTool(1, "No."),
    );
    run.emit(
      say.startText(2),
      say.text(2, "Text with `code`"),
      say.finishText(2),
      say.end("error"),
    );
    await visit.page.getByRole("button", { name: "Try again" }).waitFor();
    const contrasts = await visit.inside<{ text: string; ratio: number }[]>(MEASURE_CONTRAST);
    const low = contrasts.filter(({ ratio }) => ratio < 4.5);
    expect(low).toEqual([]);
    expect(contrasts.length).toBeGreaterThan(10);
  });
});
