import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import * as v from "valibot";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import { toCanonicalJson } from "../../src/protocol/json/canonical-hash.ts";
import { toPointer } from "../../src/protocol/json/pointer.ts";
import { isJsonObject, type JsonObject } from "../../src/protocol/json/value.ts";
import { formatExpectation } from "../../src/protocol/text/format-expectation.ts";
import { readLines } from "../bounded-input.ts";

/** One line of a file: the arguments of one call. */
export interface Row {
  /** Counts from 1. */
  readonly line: number;
  readonly args: JsonObject;
  /**
   * Names the row: its content, and how often the same content came before. So a line that is added
   * or mended elsewhere in the file gives no other row another name.
   */
  readonly name: string;
}

/** Reads the rows of a file, without its empty lines. Contract: a line that is no row is told. */
export async function* readRows(file: string): AsyncGenerator<Row | WrongLine> {
  const seen = new Map<string, number>();
  let line = 0;
  for await (const text of readLines(createReadStream(file))) {
    line++;
    if (text.trim() === "") continue;
    const args = parse(text);
    if (!args) {
      yield { line, problem: "expected a JSON object" };
      continue;
    }
    const content = hashText(toCanonicalJson(args));
    const earlier = seen.get(content) ?? 0;
    seen.set(content, earlier + 1);
    yield { line, args, name: `${content}-${earlier}` };
  }
}

/** A line that cannot be sent. */
export interface WrongLine {
  readonly line: number;
  /** The field as a JSON pointer, and what was expected there. */
  readonly problem: string;
}

/** Holds a row against the input schema and the rules of a contract. Contract: no I/O. */
export function checkRow({ line, args }: Row, contract: AnyToolContract): readonly WrongLine[] {
  const read = v.safeParse(contract.input, args, { message: formatExpectation });
  if (read.success) return [];
  return read.issues.map(({ path = [], message }) => {
    const pointer = toPointer(path.map(({ key }) => String(key)));
    return { line, problem: `${pointer || "the row"}: expected ${message}` };
  });
}

export function hashText(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 40);
}

function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
