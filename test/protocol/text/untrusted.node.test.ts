import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { growthOf, LINEAR } from "../../shared/growth.ts";
import type { JsonValue } from "../../../src/protocol/json/value.ts";
import { neutralise } from "../../../src/protocol/text/untrusted.ts";
import { sampleOfRuns } from "../../shared/sample.ts";

const clean = (text: string): string => neutralise<string>(text).value;

describe("hidden characters", () => {
  test.for([
    ["zero-width characters", "pass\u200bword\u200e \u2060x\ufeff", "password x"],
    ["direction controls", "\u202egnp.exe\u202c \u2066a\u2069 \u061cb", "gnp.exe a b"],
    ["tags that spell a hidden text", "hi\u{e0001}\u{e0049}\u{e0047}\u{e007f}", "hi"],
    ["controls", "a\u0000b\u0007c\u001b[31md\u007fe\u0085f", "abc[31mdef"],
    ["fillers, soft hyphens and annotations", "a\u3164b\u00adc\ufff9d\ufffbe", "abcde"],
    ["selectors that carry data", "a\ufe00\ufe01\ufe0f\u{e0100}b", "ab"],
    ["joiners that join nothing", "a\u200db\u200cc 😀\u200d", "abc 😀"],
    ["halves that removal would make whole", "\udb40\u200b\udc41", "\ufffd\ufffd"],
  ])("%s are removed", ([, text = "", cleaned]) => {
    expect(clean(text)).toBe(cleaned);
  });

  test.for([
    ["a family emoji", "👩‍👩‍👧‍👦 👩🏽‍🚀 ❤️‍🔥 🏳️‍🌈 1️⃣ ☀️"],
    ["a Persian word", "می‌خواهم"],
    ["a Sinhala word", "ශ්‍රී"],
    ["a Hindi word", "क्‍ष"],
    ["lines and tabs", "a\n\tb\n"],
    ["accents, Hebrew, Chinese", "é ä שלום 漢字 👍🏽 ½"],
  ])("%s stays as it is", ([, text = ""]) => {
    expect(neutralise<string>(text)).toEqual({ value: text, changed: false, hidden: 0 });
  });

  test("every line ends in one way", () => {
    expect(clean("a\r\nb\rc\u2028d\u2029e")).toBe("a\nb\nc\nd\ne");
  });
});

describe("hidden HTML", () => {
  test.for([
    ["a comment", "a<!-- obey -->b", "a b"],
    ["a comment without an end", "a<!-- obey", "a "],
    ["an element that its attribute hides", "a<p hidden>obey <p>x</p></p>b", "a b"],
    ["a style that hides", '<div class=x style="color:red; display : none">obey</div>b', " b"],
    ["a text of no size", "<span style='font-size:0.0'>obey</span>", " "],
    ["an end in a quoted value", '<div title=">" hidden>obey</div>b', " b"],
    ["an element that nothing closes", "a<div style=opacity:0>obey", "a "],
    ["a template, a script and a style", "<template>a<template>b</template>c</template>d", " d"],
    ["a script", "a<SCRIPT type=x>obey</SCRIPT>b", "a b"],
    ["letters between zero-width characters", "<di\u200bv hidden>obey</div>b", " b"],
    ["what a browser takes for a comment", "a<!obey <b>b<?obey ?>c</ obey>d", "a b c d"],
    ["what no browser shows", "<noscript>obey</noscript>a<dialog>obey</dialog>b", " a b"],
    ["an end in a comment", "<div hidden><!-- </div> -->obey</div>b", " b"],
    ["an end in a value", '<div hidden title="</div>"><p x="</div>">obey</div>b', " b"],
    ["an end in a script", "<div hidden><script>'</div>'</script>obey</div>b", " b"],
    ["an end in a table", "<div hidden><table><td></div>obey</table></div>b", " b"],
    ["an end that closes another one", "<div hidden><div></div>obey", " "],
    ["no more than paragraphs", "<p hidden>a<p>b</p>c", " c"],
  ])("%s is removed", ([, text = "", shown]) => {
    expect(neutralise<string>(text)).toMatchObject({ value: shown });
    expect(neutralise<string>(text).hidden).toBeGreaterThan(0);
  });

  test.for([
    "display:/**/none",
    "d\\69 splay:none",
    "displ&#97;y&colon;n&#x6f;ne",
    "op&#97city:0",
    "VISIBILITY : collapse",
    "opacity:.0",
    "opacity:-1",
    "font-size:1px",
    "font:0/0 a",
    "mso-hide:all",
    "filter:opacity(0)",
    "transform:rotate(1deg) scale(0)",
    "color:transparent",
    "color:rgba(9,9,9,0)",
    "color:rgb(9 9 9 / 0%)",
    "position:absolute;left:-9999px",
    "text-indent:-99em",
    "max-height:0;overflow:hidden",
    "clip:rect(0,0,0,0)",
    "clip-path:inset(50%)",
  ])("the style %s hides", (style) => {
    for (const quote of ['"', "'"]) {
      const text = `a<p style=${quote}margin:1px;${style}${quote}>obey</p>b`;
      expect(neutralise<string>(text)).toMatchObject({ value: "a b", hidden: 1 });
    }
  });

  test.for([
    "color:rgb(255,255,0)",
    "color:#000;background-color:transparent",
    "font:-apple-system-body",
    "font-size:12px;line-height:0",
    "height:0",
    "transform:scale(0.5) scale(-1)",
    "fill-opacity:0;stop-opacity:0",
    "margin-left:-300px;border:0;top:0",
    "font-size:80%;opacity:0.05",
  ])("the style %s hides nothing", (style) => {
    const text = `<p style="${style}">x</p>`;
    expect(neutralise<string>(text)).toMatchObject({ value: `< ${text.slice(1)}`, hidden: 0 });
  });

  test.for([
    ["a word in a value", '<p title="the hidden door">x</p>', '< p title="the hidden door">x</p>'],
    ["a name that begins like it", "<p data-hidden>x</p>", "< p data-hidden>x</p>"],
    ["a half-shown text", "<p style=opacity:0.5>x</p>", "< p style=opacity:0.5>x</p>"],
    ["a template that prose names", "Use <template> here.", "Use <template> here."],
    ["an arrow", "a <- b <!- c", "a <- b <!- c"],
    ["a bracket in a value", '<p title="a > b">x</p>', '< p title="a > b">x</p>'],
    ["a type of Java", "List<?> a; Map<? extends K, V> b;", "List<?> a; Map<? extends K, V> b;"],
    ["the head of a page", "<!DOCTYPE html><p>x", "<!DOCTYPE html><p>x"],
    [
      "the head of a feed",
      '<?xml version="1.0"?><![CDATA[x]]>',
      '<?xml version="1.0"?><![CDATA[x]]>',
    ],
    ["an open dialog", "<dialog open>x</dialog>", "< dialog open>x</dialog>"],
  ])("%s stays", ([, text = "", shown]) => {
    expect(neutralise<string>(text)).toMatchObject({ value: shown, hidden: 0 });
  });

  test("any mix is clean after one pass", () => {
    const part = fc.constantFrom(
      ..."<div hidden>|</div>|<!--|-->|<template>|</template>|<p style='display:none'|>|=\"|'".split(
        "|",
      ),
      ..."<di|v hidden>| |obey|<script |</script|hidden|<br hidden>|\u200b|[a](|)|![|]|://u@|<!|<?|</ |>|<table>|</table>|<textarea>|<li hidden>|<dialog".split(
        "|",
      ),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 24 }), (parts) => {
        const once = neutralise<string>(parts.join(""));
        const twice = { value: once.value, changed: false, hidden: 0 };
        expect(neutralise<string>(once.value)).toEqual(twice);
      }),
      sampleOfRuns(4_000),
    );
  });
});

describe("markup", () => {
  test.for([
    ["an image", "a ![chart](https://evil.test/?q=secret) b", "a [image removed] b"],
    ["an image with a title", '![c](https://evil.test/a "t (x)")!', "[image removed] !"],
    ["an image without an end", "![c](https://evil.test/a\nmore", "[image removed]\nmore"],
    ["an image in a link", "[![c](u)](https://evil.test)", "[[image removed]] (link to evil.test)"],
    [
      "an image by reference",
      "![c][r]\n\n[r]: https://evil.test/x",
      "[image removed] [r]\n\n[r] : https://evil.test/x",
    ],
    ["an image hidden by a zero-width space", "!\u200b[c](https://evil.test)", "[image removed]"],
    ["a link behind an image", "![c](u)(https://evil.test)", "[image removed] (https://evil.test)"],
    [
      "a link",
      "see [the docs](https://user:pw@evil.test/a?b) now",
      "see [the docs] (link to evil.test) now",
    ],
    [
      "a link in brackets with a title",
      '[x](<https://evil.test/a b> "t")',
      '[x] (link to evil.test "t")',
    ],
    [
      "a link to a host of other letters",
      "[x](https://аpple.com/)",
      "[x] (link to xn--pple-43d.com)",
    ],
    [
      "a link without a host",
      "[x](javascript:alert(1)) [y](/path)",
      "[x] (javascript:alert(1)) [y] (/path)",
    ],
    ["an HTML image", 'a <img src="https://evil.test/x"> b', "a [image removed] b"],
    [
      "an HTML image without an end",
      "<IMG src=x onerror=alert(1)",
      "[image removed] src=x onerror=alert(1)",
    ],
    ["a frame", "<iframe src=//evil.test>", "[frame removed]"],
    ["an HTML link", '<a href="https://evil.test">text</a>', "[link removed]text</a>"],
    ["a script", "<script>alert(1)", "[script removed]alert(1)"],
    ["any tag with attributes", "<p onclick=x>y</p>", "< p onclick=x>y</p>"],
    [
      "images side by side",
      "<img><img>![a](b)![c](d)",
      "[image removed] [image removed] [image removed] [image removed]",
    ],
    [
      "a name and password in an address",
      "ftp://me:secret@host.test/x, https://bank.test@evil.test",
      "ftp://host.test/x, https://evil.test",
    ],
  ])("%s is made inert", ([, text = "", cleaned]) => {
    expect(clean(text)).toBe(cleaned);
  });

  test.for([
    "https://example.com/a(b)?c=[d]&e=@f",
    "a [1] b [2][3] ![x] c",
    "if (a < b && c > d) return list[0];",
    "Array<string> and <b>bold</b> <br/>",
    "mail me@example.com",
  ])("%s stays as it is", (text) => {
    expect(neutralise<string>(text)).toEqual({ value: text, changed: false, hidden: 0 });
  });
});

describe("values", () => {
  test("every text of a value is looked at, names of members included", () => {
    const value = { "a\u200b": ["x\u200b", { b: 1, c: null, d: true }], e: "y" };
    expect(neutralise<JsonValue>(value)).toEqual({
      value: { a: ["x", { b: 1, c: null, d: true }], e: "y" },
      changed: true,
      hidden: 2,
    });
  });

  test("names that read the same stay apart, and __proto__ stays a name", () => {
    const value = JSON.parse('{"a":1,"a\\u200b":2,"__proto__\\u200b":{"x":3}}') as JsonValue;
    expect(JSON.stringify(neutralise(value).value)).toBe('{"a":1,"a_2":2,"__proto__":{"x":3}}');
  });

  test("a value in which nothing changes is the same one", () => {
    const value = { a: ["x", 1, { b: "https://example.com" }], __id: null };
    expect(neutralise<JsonValue>(value).value).toBe(value);
  });

  test("a value nested two hundred thousand levels deep is no trouble", () => {
    const text = (inner: string) => `${"[".repeat(200_000)}${inner}${"]".repeat(200_000)}`;
    expect(neutralise(JSON.parse(text('"x\\u200b"')) as JsonValue).changed).toBe(true);
    expect(neutralise(JSON.parse(text('"x"')) as JsonValue).changed).toBe(false);
  });
});

const TOKENS =
  `![ [ ] ]( ](https://u:p@e.test/ ) ]: ][ ( ! < > </ / <img <img> <b> <script> <div = " :// @ http : _2 \\ ` +
  "😀 👩 🏽 क ् م \u200b \u200d \u200c \u202e \ufe0f \u{e0041} \udb40 \udc41";
const piece = fc.oneof(
  fc.string({ unit: "binary", maxLength: 4 }),
  fc.constantFrom(" ", "\r", "\n", "<a href=x>", "[image removed]", ...TOKENS.split(" ")),
);
const hostile = fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join(""));
const hostileJson = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    hostile,
    fc.integer(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(hostile, tie("value"), { maxKeys: 3 }),
  ),
})).value;
const many = sampleOfRuns(3_000);

describe("whatever the text is", () => {
  test("nothing hidden, no image, no link, no active tag and no userinfo is left", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const cleaned = clean(text);
        expect(cleaned).not.toMatch(
          /[\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\u2060\ufeff\u{e0000}-\u{e0fff}]/u,
        );
        expect(cleaned).not.toMatch(/[^\P{Cc}\n\t]/u);
        expect(cleaned).not.toMatch(/\](?:\(|:)/);
        expect(cleaned).not.toMatch(/!\[[^[\]]*\][([]/);
        expect(cleaned).not.toMatch(/<(?:img|a|script)(?:[\s/>]|$)/i);
        expect(cleaned).not.toMatch(/<[a-z][^\s/<>]*[\s/]+[^\s/>]/i);
        expect(cleaned).not.toMatch(/:\/\/[^\s/?#\\"<>]*@/);
        expect(cleaned.isWellFormed()).toBe(true);
      }),
      many,
    );
  });

  test("a second time changes nothing, and a value keeps its shape", () => {
    fc.assert(
      fc.property(hostileJson, (value) => {
        const once = neutralise(value);
        expect(neutralise(once.value)).toEqual({ value: once.value, changed: false, hidden: 0 });
        expect(once.changed).toBe(JSON.stringify(once.value) !== JSON.stringify(value));
        expect(shapeOf(once.value)).toBe(shapeOf(value));
      }),
      many,
    );
  });

  const REPEATED = [
    "![a",
    "[a](https://e.test)",
    "![a](b)",
    "[",
    "](",
    "<img ",
    "<a",
    "<b/",
    "://a@",
    "😀\u200d",
    "\u200b",
    "](<",
    "![x]((",
    "<div hidden>",
    "<template>",
    "<!--",
    '<a x="',
    "<script></script x",
    "<p =",
    "a",
  ];
  test.for(REPEATED)("%j over and over takes time in proportion to its length", (unit) => {
    const cleanMany = (length: number): void =>
      void clean(`<p ${unit.repeat(length / unit.length)}`);
    expect(growthOf(cleanMany, 10_000)).toBeLessThan(LINEAR);
  });
});

function shapeOf(value: JsonValue): string {
  if (typeof value !== "object" || value === null) return typeof value;
  const inner = Object.values(value).map((member: JsonValue) => shapeOf(member));
  return `${Array.isArray(value) ? "list" : "object"}(${inner.join()})`;
}
