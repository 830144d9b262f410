import type { Mutant } from "./mutant.ts";

/** What makes foreign text harmless and visible. */
export const TEXTS: readonly Mutant[] = [
  {
    name: "an untrusted text keeps characters that nobody sees",
    file: "src/protocol/text/untrusted.ts",
    from: "PLAIN.test(text) ? text : dropInvisible(text)",
    to: "PLAIN.test(text) ? text : text.toWellFormed()",
    test: {
      file: "test/protocol/text/untrusted.node.test.ts",
      name: "nothing hidden, no image, no link, no active tag and no userinfo is left",
    },
  },
  {
    name: "an untrusted text keeps active tags",
    file: "src/protocol/text/untrusted.ts",
    from: "disarmHtml(disarmLinks(stripUserinfo(seen)))",
    to: "disarmLinks(stripUserinfo(seen))",
    test: {
      file: "test/protocol/text/untrusted.node.test.ts",
      name: "nothing hidden, no image, no link, no active tag and no userinfo is left",
    },
  },
  {
    name: "an untrusted text keeps images and links",
    file: "src/protocol/text/untrusted.ts",
    from: "disarmHtml(disarmLinks(stripUserinfo(seen)))",
    to: "disarmHtml(stripUserinfo(seen))",
    test: {
      file: "test/protocol/text/untrusted.node.test.ts",
      name: "nothing hidden, no image, no link, no active tag and no userinfo is left",
    },
  },
  {
    name: "an untrusted text keeps the user name of a URL",
    file: "src/protocol/text/untrusted.ts",
    from: "disarmHtml(disarmLinks(stripUserinfo(seen)))",
    to: "disarmHtml(disarmLinks(seen))",
    test: {
      file: "test/protocol/text/untrusted.node.test.ts",
      name: "nothing hidden, no image, no link, no active tag and no userinfo is left",
    },
  },
  {
    name: "a text can fake the escape of a hidden character",
    file: "src/protocol/text/hidden-characters.ts",
    from: "\\u{1d159}\\u27e6]`;",
    to: "\\u{1d159}]`;",
    test: {
      file: "test/protocol/text/visible.node.test.ts",
      name: "no two texts are shown the same: what is shown can be taken back",
    },
  },
  {
    name: "equal hidden neighbours are shown without their number",
    file: "src/protocol/text/visible.ts",
    from: "`⟦${point}×${next - at}⟧`",
    to: "`⟦${point}⟧`",
    test: {
      file: "test/protocol/text/visible.node.test.ts",
      name: "no two texts are shown the same: what is shown can be taken back",
    },
  },
  {
    name: "stacked marks are dropped",
    file: "src/protocol/text/visible.ts",
    from: "return markAll(found, (point, times) => notes.add(kind, [point], times));",
    to: 'const shown = markAll(found, (point, times) => notes.add(kind, [point], times));\n  return kind === "hidden" ? shown : "";',
    test: {
      file: "test/protocol/text/visible.node.test.ts",
      name: "no two texts are shown the same: what is shown can be taken back",
    },
  },
  {
    name: "piles of marks are normalised",
    file: "src/protocol/text/visible.ts",
    from: 'text.replaceAll(surplusMarks(), "");\n  if',
    to: "text;\n  if",
    test: {
      file: "test/protocol/text/visible.node.test.ts",
      name: "the time grows with the length alone: marks out of order",
    },
  },
];
