const DOCUMENT_CHARS = 1_000_000;

/** Collects the paragraphs of a document, up to a million characters. */
export class DocumentWriter {
  readonly #paragraphs: string[] = [];
  #characters = 0;

  /** Whether the document has room for more. */
  get hasRoom(): boolean {
    return this.#characters < DOCUMENT_CHARS;
  }

  heading(depth: number, text: string): void {
    this.paragraph(`${"#".repeat(depth)} ${text}`);
  }

  /** Adds a paragraph. An empty one is left out. */
  paragraph(text: string): void {
    if (text === "") return;
    this.#paragraphs.push(text);
    this.#characters += text.length + 2;
  }

  list(items: readonly string[]): void {
    this.paragraph(items.map((item) => `- ${item}`).join("\n"));
  }

  table(head: readonly string[], rows: readonly (readonly string[])[]): void {
    if (rows.length === 0) return;
    const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
    this.paragraph([head, head.map(() => "---"), ...rows].map(line).join("\n"));
  }

  finish(): string {
    return `${this.#paragraphs.join("\n\n")}\n`;
  }
}
