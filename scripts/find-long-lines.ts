/** A comment line that is longer than the limit. */
export interface LongLine {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly columns: number;
}

const MAX_COLUMNS = 100;

type IsChecked = (line: string) => boolean;

/**
 * Finds the comment lines of a file that pass 100 columns. The formatter wraps code and Markdown,
 * but no comments. Lines with a URL are excepted, because a URL cannot be wrapped.
 */
export function findLongComments(file: string, text: string): readonly LongLine[] {
  const isChecked = checkerFor(file);
  return text.split("\n").flatMap((line, index) => {
    const isLong = isChecked(line) && line.length > MAX_COLUMNS && !/\bhttps?:\/\//.test(line);
    return isLong ? [{ file, line: index + 1, columns: line.length }] : [];
  });
}

function checkerFor(file: string): IsChecked {
  return file.endsWith(".toml") ? (line) => line.startsWith("#") : insideComments();
}

/** Knows block comments that begin a line, and line comments that begin or end one. */
function insideComments(): IsChecked {
  let isBlock = false;
  return (line) => {
    const text = line.trim();
    if (text.startsWith("/*")) isBlock = true;
    const isComment = isBlock || /(?:^|\s)\/\/\s/.test(text);
    if (text.endsWith("*/")) isBlock = false;
    return isComment;
  };
}

const MAX_LINES = 300;

/** What runs in a deployment or at its author; tests and the scripts of this repository do not. */
const PRODUCT = /^(?:src|durable-objects|cli|apps\/[^/]+\/(?!test\/)).*\.ts$/;

/** Finds out whether a file of the product has more than 300 lines. Answers it, or nothing. */
export function findLongFile(
  file: string,
  text: string,
): readonly { readonly file: string; readonly lines: number }[] {
  const lines = text.replace(/\n$/, "").split("\n").length;
  return PRODUCT.test(file) && lines > MAX_LINES ? [{ file, lines }] : [];
}
