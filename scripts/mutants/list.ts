import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { escapePattern } from "./escape-pattern.ts";
import { readTitles, type Titles } from "./titles.ts";

/** One protection taken away, and the test that has to notice. */
export interface Mutant {
  readonly area: string;
  /** What is true without the protection. */
  readonly name: string;
  readonly file: string;
  /** A space stands for any white space of the file, line breaks included. */
  readonly from: string;
  readonly to: string;
  readonly test: { readonly file: string; readonly name: string };
}

/** The mutants of all areas, and a sentence for each line that cannot be tried. */
export interface MutantList {
  readonly mutants: readonly Mutant[];
  readonly faults: readonly string[];
}

const LISTS = "scripts/mutants";
const FILES = /^## (\S+), (\S+)$/;

/**
 * Reads `scripts/mutants/AREA.md`. A heading names the source and the test file; under it, each
 * line is a mutant: `- name | text taken away | text in its place | test`.
 * Contract: a mutant that has no fault changes its file at one place, and its test is written down.
 */
export function readMutants(root: string): MutantList {
  const faults: string[] = [];
  const files = new Map<string, string | undefined>();
  const read = (file: string): string | undefined => {
    if (!files.has(file)) files.set(file, readIfThere(join(root, file)));
    return files.get(file);
  };
  const titles = new Map<string, Titles>();
  const mutants = readLines(root, faults);
  const names = new Set<string>();
  for (const mutant of mutants) {
    const fault = names.has(mutant.name) ? "another mutant has this name" : faultOf(mutant);
    if (fault) faults.push(`${mutant.area}: ${mutant.name}: ${fault}`);
    names.add(mutant.name);
  }
  return { mutants, faults };

  function faultOf(mutant: Mutant): string | undefined {
    const source = read(mutant.file);
    if (source === undefined) return `${mutant.file} is not there`;
    const times = [...source.matchAll(patternOf(mutant.from))].length;
    if (times !== 1) return `${mutant.file} holds its text ${times} times`;
    const { file, name } = mutant.test;
    const text = read(file);
    if (text === undefined) return `${file} is not there`;
    const known = titles.get(file) ?? readTitles(file, text);
    titles.set(file, known);
    return known.hold(name) ? undefined : `${file} has no test "${name}"`;
  }
}

/** Contract: `source` holds the text of the mutant once. */
export function takeAway(source: string, { from, to }: Mutant): string {
  return source.replace(patternOf(from), () => to);
}

function readLines(root: string, faults: string[]): Mutant[] {
  const lists = readdirSync(join(root, LISTS)).filter((file) => file.endsWith(".md"));
  return lists.toSorted().flatMap((list) => {
    const area = basename(list, ".md");
    let files: readonly [source: string, test: string] | undefined;
    return readFileSync(join(root, LISTS, list), "utf8")
      .split("\n")
      .flatMap((line, index) => {
        const heading = FILES.exec(line);
        if (heading) files = [heading[1] ?? "", heading[2] ?? ""];
        if (heading || line === "") return [];
        const [name, from, to, test, ...more] = line
          .slice(2)
          .split(/ \|(?= )/)
          .map((part) => part.trim());
        if (
          files &&
          line.startsWith("- ") &&
          name &&
          from &&
          to !== undefined &&
          to !== from &&
          test &&
          more.length === 0
        ) {
          return [{ area, name, file: files[0], from, to, test: { file: files[1], name: test } }];
        }
        faults.push(
          `${LISTS}/${list}:${index + 1}: not "- name | from | to | test" under a heading`,
        );
        return [];
      });
  });
}

function patternOf(from: string): RegExp {
  const words = from.split(/\s+/).map((word) => escapePattern(word));
  return new RegExp(words.join("\\s+"), "g");
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
