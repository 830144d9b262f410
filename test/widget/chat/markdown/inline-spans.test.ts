import { expect, test } from "vitest";
import { parseInline } from "../../../../src/widget/chat/markdown/inline-spans.ts";

test("inline text formats code and bold, and leaves links, HTML and loose marks as they are", () => {
  expect(parseInline("a `<b>` **c** [d](javascript:e) <i>f</i> ** ` **")).toEqual([
    { kind: "text", text: "a " },
    { kind: "code", text: "<b>" },
    { kind: "text", text: " " },
    { kind: "bold", text: "c" },
    { kind: "text", text: " [d](javascript:e) <i>f</i> ** ` **" },
  ]);
});
