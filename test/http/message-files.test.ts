import { beforeAll, describe, expect, test } from "vitest";
import {
  ask,
  image,
  pdf,
  png,
  refusalOf,
  requestOf,
  SEES,
  shortly,
  text,
} from "../shared/file-messages.ts";
import { dataUrl, GIF, JPEG, largePng, PDF, PNG, WEBP } from "../shared/files.ts";
import { chunksOf, govern, postChat, runIdOf, seedPolicies, send } from "../shared/worker.ts";

beforeAll(seedPolicies);

const ADDRESS = "https://images.example/cat.png";
const PNG_URL = dataUrl("image/png", PNG);

describe("a message with text, an image and a document", () => {
  const content = [text("See "), text("this:"), png, image(ADDRESS), pdf, text("Well?")];
  const chat = [
    { type: "text", text: "See this:" },
    { type: "image_url", image_url: { url: PNG_URL } },
    { type: "image_url", image_url: { url: ADDRESS } },
    { type: "file", file: { filename: "plan.pdf", file_data: dataUrl("application/pdf", PDF) } },
    { type: "text", text: "Well?" },
  ];
  const responses = [
    { type: "input_text", text: "See this:" },
    { type: "input_image", image_url: PNG_URL, detail: "auto" },
    { type: "input_image", image_url: ADDRESS, detail: "auto" },
    { type: "input_file", filename: "plan.pdf", file_data: dataUrl("application/pdf", PDF) },
    { type: "input_text", text: "Well?" },
  ];
  const source = (media_type: string, data: string) => ({ type: "base64", media_type, data });
  const anthropic = [
    { type: "text", text: "See this:" },
    { type: "image", source: source("image/png", PNG) },
    { type: "image", source: { type: "url", url: ADDRESS } },
    { type: "document", source: source("application/pdf", PDF) },
    { type: "text", text: "Well?" },
  ];

  test.each([
    ["gpt-4o", "messages", chat],
    ["gpt-6.1-terra", "input", responses],
    [SEES, "messages", anthropic],
  ])("reaches %s in the form of its wire", async (model, field, expected) => {
    const body = JSON.parse(await requestOf(await ask(content, { model }))) as {
      [name: string]: readonly { role: string; content: unknown }[];
    };
    expect(body[field]?.find(({ role }) => role === "user")?.content).toEqual(expected);
  });

  test.each([
    ["image/jpeg", JPEG],
    ["image/gif", GIF],
    ["image/webp", WEBP],
  ])("may be of the type %s", async (type, base64) => {
    const asFile = { type: "file", data: base64, mimeType: type };
    const sent = await requestOf(await ask([image(dataUrl(type, base64)), asFile]));
    expect(sent.split(base64)).toHaveLength(3);
  });
});

test("a page learns which files the model of its chat takes", async () => {
  const takes = async (model: string) =>
    (await (await send(`/v1/page?model=${model}`, { caller: "acme" })).json<{ takes: object }>())
      .takes;
  expect(await takes("gpt-4o")).toEqual({ images: true, documents: true });
  expect(await takes("scripted")).toEqual({ images: false, documents: false });
  expect(await takes("unknown")).toEqual({ images: false, documents: false });
});

describe("a file that Interlock does not take is refused before any object wakes:", () => {
  const svg = btoa('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
  const html = btoa("<!doctype html><script>alert(1)</script>");
  test.each([
    ["an SVG image", image(dataUrl("image/svg+xml", svg))],
    ["an SVG that says it is a PNG", image(dataUrl("image/png", svg))],
    ["a page that says it is an image", image(dataUrl("image/gif", html))],
    ["a page as a document", { type: "file", data: html, mimeType: "text/html" }],
    [
      "a page that says it is a document",
      { type: "file", data: html, mimeType: "application/pdf" },
    ],
    ["a document as an image", image(dataUrl("application/pdf", PDF))],
    ["a JPEG that says it is a PNG", image(dataUrl("image/png", JPEG))],
    ["two types", { type: "file", data: PNG_URL, mimeType: "image/jpeg" }],
    ["an inherited name as a type", { type: "file", data: PNG, mimeType: "constructor" }],
    ["no base64", image("data:image/png,plain")],
    ["base64 with line breaks", image(`${PNG_URL}\n`)],
    ["base64 that is cut", image(PNG_URL.slice(0, -1))],
    ["nothing", image("")],
    ["plain http", image("http://images.example/cat.png")],
    ["a file address", image("file:///etc/passwd")],
    ["a script", image("javascript:alert(1)")],
    ["loopback", image("https://127.0.0.1/cat.png")],
    ["loopback in another notation", image("https://0x7f.1/cat.png")],
    ["loopback by name", image("https://localhost/cat.png")],
    ["a private network", image("https://10.0.0.8/cat.png")],
    ["the metadata of a cloud", image("https://169.254.169.254/latest/meta-data")],
    ["an IPv6 address", image("https://[fd00::1]/cat.png")],
    ["a name of a local network", image("https://printer.internal/cat.png")],
    ["a name without a dot", image("https://intranet/cat.png")],
    ["credentials in the address", image("https://ann:secret@images.example/cat.png")],
    ["an endless address", image(`https://images.example/${"a".repeat(2_048)}`)],
    ["a private address of a document", { ...pdf, data: "https://10.0.0.8/plan.pdf" }],
  ])("%s", async (_name, part) => {
    const response = await ask([text("Look"), part]);
    expect(await refusalOf(response)).toMatchObject({
      status: 422,
      code: "file_invalid",
      pointer: "/messages/0/content/1",
    });
  });

  test("hidden characters in its name, and unknown fields", async () => {
    for (const more of [
      { filename: "a\u202egnp.exe" },
      { hash: "sha256:0" },
      { keeper: "run_1" },
    ]) {
      const { status, code } = await refusalOf(await ask([{ ...pdf, ...more }]));
      expect([status, code]).toEqual([422, "invalid_request"]);
    }
  });

  test("in a system, an assistant or a tool message", async () => {
    for (const role of ["system", "assistant", "tool"]) {
      const response = await postChat({ messages: [{ role, content: [png] }], model: SEES });
      expect((await refusalOf(response)).code).toMatch(/invalid_request|insufficient_scope/);
    }
  });
});

describe("files are bounded:", () => {
  const MIB = 1024 * 1024;

  test("3 MiB a message pass, and one byte more does not", async () => {
    const whole = largePng(3 * MIB, "whole");
    expect((await ask([image(dataUrl("image/png", whole))])).status).toBe(200);
    const halves = [largePng(1.5 * MIB, "a"), largePng(1.5 * MIB + 1, "b")];
    const response = await ask(halves.map((half) => image(dataUrl("image/png", half))));
    expect(await refusalOf(response)).toMatchObject({
      status: 422,
      code: "files_too_large",
      pointer: "/messages/0/content/1",
    });
  });

  test("a body over 4 MiB and a little is too large", async () => {
    const { status, code } = await refusalOf(await ask("x".repeat(4 * MIB + 64 * 1024)));
    expect([status, code]).toEqual([413, "body_too_large"]);
  });

  test("for a model that takes no files, a body over 1 MiB is too large", async () => {
    const { status, code } = await refusalOf(await ask("x".repeat(MIB), { model: "scripted" }));
    expect([status, code]).toEqual([413, "body_too_large"]);
  });

  test("ten thousand small ones are too many, in one message or in many", async () => {
    const one = await ask(Array.from({ length: 10_000 }, () => png));
    expect(await refusalOf(one)).toMatchObject({
      code: "files_too_large",
      pointer: "/messages/0/content/16",
    });
    const messages = Array.from({ length: 10 }, () => ({
      role: "user",
      content: Array.from({ length: 10 }, () => png),
    }));
    const many = await refusalOf(await postChat({ messages, model: SEES }));
    expect(many).toMatchObject({ code: "files_too_large", pointer: "/messages/6/content/4" });
  });

  test("ten thousand texts around a file are one text", async () => {
    const texts = Array.from({ length: 10_000 }, () => text("a"));
    const sent = await requestOf(await ask([...texts, png, ...texts]));
    expect(sent.split('"type":"text"')).toHaveLength(3);
  });
});

describe("a model that cannot take a file", () => {
  test.each([
    ["an image", "scripted", png],
    ["a document", "scripted", pdf],
    ["a document by address, on Chat Completions", "gpt-4o", { ...pdf, data: `${ADDRESS}.pdf` }],
  ])("refuses %s", async (_name, model, part) => {
    const { status, code, detail } = await refusalOf(await ask([part], { model }));
    expect([status, code]).toEqual([422, "file_not_taken"]);
    expect(detail).toContain(model);
  });

  test("gets a note in place of the files of a conversation that it continues", async () => {
    const first = await ask([shortly, png]);
    await first.text();
    const more = { previousRunId: runIdOf(first), model: "scripted" };
    const sent = await requestOf(await ask("and now?", more));
    expect(sent).not.toContain(PNG);
    expect(sent).toContain("The image of this message is left out");
  });

  test("is refused where a budget limits tokens and no bound of an image is known", async () => {
    await govern({ allowedTools: [], budgets: { maxTokens: 100_000 } });
    const refused = await refusalOf(await ask([png], { model: "gpt-6.1-terra" }, "bendable"));
    expect([refused.status, refused.code]).toEqual([422, "file_not_taken"]);
    expect(refused.detail).toContain("maxImageTokens");
    const document = await refusalOf(await ask([pdf], {}, "bendable"));
    expect(document.detail).toContain("maxFileTokens");
  });
});

test("the tokens of images count in what a budget holds", async () => {
  // One image of this model may cost 4,784 tokens.
  await govern({ allowedTools: [], budgets: { maxTokens: 9_000, maxOutputTokens: 300 } });
  const reasonOf = async (content: unknown) => {
    const chunks = await chunksOf(await ask(content, {}, "bendable"));
    const items = chunks.flatMap(({ type, data }) => (type === "data" ? (data as unknown[]) : []));
    return items.find((item) => (item as { type: string }).type === "done");
  };
  expect(await reasonOf([shortly, png])).toMatchObject({ reason: "stop" });
  const other = image(dataUrl("image/png", btoa("\x89PNG\r\n\x1a\n other")));
  expect(await reasonOf([shortly, png, other])).toMatchObject({
    error: { code: "budget_exhausted" },
  });
});

test("client-sent history may hold files", async () => {
  const messages = [
    { role: "user", content: [text("one"), png] },
    { role: "assistant", content: "Nice." },
    { role: "user", content: "again" },
  ];
  expect(await requestOf(await postChat({ messages, model: SEES }))).toContain(PNG);
});
