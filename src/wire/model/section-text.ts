/** Joins the sections of a reasoning summary, with a blank line between two. One per session. */
export class SectionText {
  #section: string | undefined;

  /** Answers the text as it continues the summary. `section` names where the text belongs. */
  add(section: string, text: string): string {
    if (text === "" || section === this.#section) return text;
    const separator = this.#section === undefined ? "" : "\n\n";
    this.#section = section;
    return `${separator}${text}`;
  }
}
