import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";
import { el } from "../dom.ts";

/** The build that this file belongs to. */
export const edition = EDITION;

const scripts = { bash, javascript, php, python, ruby, typescript };
const compiled = { c, cpp, csharp, go, java, rust };
const lowlight = createLowlight({ ...scripts, ...compiled, css, diff, json, sql, xml, yaml });

type Highlighted = ReturnType<typeof lowlight.highlight>["children"][number];

/** Gives the words of a code block their colours. A language that is not known has none. */
export function highlight(code: HTMLElement): void {
  const { language = "" } = code.dataset;
  if (!lowlight.registered(language)) return;
  const { children } = lowlight.highlight(language, code.textContent);
  code.replaceChildren(...children.map(drawHighlighted));
}

function drawHighlighted(node: Highlighted): Node | string {
  if (node.type === "text") return node.value;
  if (node.type !== "element") return "";
  const names = node.properties["className"];
  const className = Array.isArray(names) ? names.join(" ") : "";
  return el("span", { class: className }, ...node.children.map(drawHighlighted));
}
