import { fromPointer } from "../../src/protocol/json/pointer.ts";

/**
 * Finds the line on which the value at a JSON pointer begins; of a value that is missing, the line
 * of the nearest value around it. It counts from 1.
 * Contract: the text is JSON.
 */
export function lineOf(text: string, pointer: string): number {
  const wanted = fromPointer(pointer);
  let found = 0;
  for (const { path, at } of placesOf(text)) {
    if (path.every((key, depth) => key === wanted[depth])) found = at;
  }
  return text.slice(0, found).split("\n").length;
}

interface Place {
  readonly path: readonly string[];
  /** Of the first character of the member: of its key where it has one. */
  readonly at: number;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Lists every value of a text, each before the values in it. */
function* placesOf(text: string): Generator<Place> {
  const path: string[] = [];
  /** For each open object or list: the number of its member, or undefined for an object. */
  const open: (number | undefined)[] = [];
  let key: { readonly name: string; readonly at: number } | undefined;
  const tokens = [...text.matchAll(TOKEN)];
  for (const [number, { 0: token, index }] of tokens.entries()) {
    const isKey = tokens[number + 1]?.[0] === ":";
    if (token === ":") continue;
    if (isKey) key = { name: JSON.parse(token) as string, at: index };
    else if (token === "}" || token === "]") {
      open.pop();
      path.pop();
    } else if (token === ",") {
      const last = open.at(-1);
      if (last !== undefined) open[open.length - 1] = last + 1;
    } else {
      const member = open.at(-1);
      const name = key?.name ?? (member === undefined ? undefined : String(member));
      const own = name === undefined ? [] : [name];
      yield { path: [...path, ...own], at: key?.at ?? index };
      if (token === "{" || token === "[") {
        open.push(token === "[" ? 0 : undefined);
        path.push(...own);
      }
      key = undefined;
    }
  }
}
