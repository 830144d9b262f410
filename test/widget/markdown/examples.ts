import { type MarkdownNode, textOfNodes } from "../../../src/widget/markdown/nodes.ts";

/** One example of the specification of CommonMark. */
export interface Example {
  readonly number: number;
  readonly section: string;
  readonly markdown: string;
  readonly html: string;
}

const EXAMPLE = /^`{32} example\n([\s\S]*?)^\.\n([\s\S]*?)^`{32}$|^## (.*)$/gm;

/** Reads the examples of the text of the specification. */
export function readExamples(specification: string): readonly Example[] {
  const examples: Example[] = [];
  let section = "";
  for (const [, markdown, html, heading] of specification.matchAll(EXAMPLE)) {
    if (heading !== undefined) section = heading;
    else if (markdown !== undefined && html !== undefined) {
      const number = examples.length + 1;
      examples.push({ number, section, markdown: withTabs(markdown), html: withTabs(html) });
    }
  }
  return examples;
}

function withTabs(text: string): string {
  return text.replaceAll("→", "\t");
}

/** Writes nodes as the specification does, apart from white space. */
export function toHtml(node: MarkdownNode): string {
  if (typeof node === "string") return escape(node);
  const { name, address = "" } = node;
  const content = node.children.map(toHtml).join("");
  if (name === "hr" || name === "br") return `<${name}>`;
  if (name === "img") {
    return `<img src="${escape(address)}" alt="${escape(textOfNodes(node.children))}">`;
  }
  if (name === "a") return `<a href="${escape(address)}">${content}</a>`;
  if (name === "pre") {
    const language = node.language ? ` class="language-${escape(node.language)}"` : "";
    return `<pre><code${language}>${content}</code></pre>`;
  }
  const start = name === "ol" && node.start !== 1 ? ` start="${node.start}"` : "";
  return `<${name}${start}>${content}</${name}>`;
}

function escape(text: string): string {
  const names: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
  return text.replace(/[&<>]/g, (char) => names[char] ?? "").replaceAll('"', "&quot;");
}

/**
 * Leaves out what the page leaves out: titles of links and paragraphs that white space shows.
 * Addresses are compared as a browser reads them.
 */
export function normalise(html: string): string {
  return html
    .replace(/ (href|src)="([^"]*)"/g, (_, name, address) => ` ${name}="${resolve(address)}"`)
    .replace(/ title="[^"]*"/g, "")
    .replace(/ ?\/>/g, ">")
    .replace(/>\s+/g, ">")
    .replace(/\s+</g, "<")
    .replace(/<\/?p>/g, "")
    .replace(/\s+/g, " ")
    .replaceAll("&quot;", '"')
    .trim();
}

function resolve(address: string): string {
  const text = address.replaceAll("&amp;", "&").replaceAll("&quot;", '"');
  const url = URL.parse(text, "https://base.test/folder/");
  // What the specification encodes in an address, the page leaves to the browser.
  return url ? url.href.replace(/%[0-9A-F]{2}/g, decodeByte) : text;
}

function decodeByte(code: string): string {
  return /%(?:22|5B|5C|5D|60)/.test(code) ? decodeURIComponent(code) : code;
}
