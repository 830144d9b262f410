import type { JsonObject } from "../../protocol/json/value.ts";
import { SectionText } from "../model/section-text.ts";
import { readCount, textOf } from "../model/event-decoder.ts";
import { listOf } from "./read-response.ts";

/**
 * Reads the reasoning summaries of one Responses stream. They arrive in deltas, in their item, in
 * the terminal event, or in several of these.
 * Contract: each summary counts once; linear.
 */
export class SummaryReader {
  readonly #sections = new SectionText();
  #isItemRead = false;
  #isAnyRead = false;
  #items = 0;

  /** Reads one delta. */
  readDelta(event: JsonObject): string {
    this.#isItemRead = true;
    this.#isAnyRead = true;
    const section = `${this.#items}/${readCount(event["summary_index"]) ?? 0}`;
    return this.#sections.add(section, textOf(event["delta"]));
  }

  /** Reads a whole item, unless its deltas were read. */
  readItem(item: JsonObject): string {
    if (item["type"] !== "reasoning") return "";
    const text = this.#isItemRead ? "" : this.#readWhole(item);
    this.#isAnyRead ||= text !== "";
    this.#isItemRead = false;
    this.#items++;
    return text;
  }

  /** Reads the output of the terminal event, unless a summary was read before. */
  readOutput(output: readonly JsonObject[]): string {
    return this.#isAnyRead ? "" : output.map((item) => this.readItem(item)).join("");
  }

  #readWhole({ summary }: JsonObject): string {
    return listOf(summary)
      .map((part, at) => this.#sections.add(`${this.#items}/${at}`, textOf(part["text"])))
      .join("");
  }
}
