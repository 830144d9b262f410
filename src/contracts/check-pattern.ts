// The package's main file assigns to its own exports in a way that workerd's module loader refuses.
import { tokenizer } from "ret/dist/tokenizer.js";
import { types, type Root, type Token } from "ret/dist/types/index.js";

const MAX_PATTERN_CHARS = 1024;
/** Steps that matching one text may take at worst; a second or two of an isolate's time. */
const MAX_STEPS = 2 ** 31;

/**
 * Tells why a regular expression may not be matched against text that a model made; undefined when it
 * may. `maxChars` is the length of the longest such text.
 * Threat: a pattern that backtracks stops the isolate for as long as the text is long enough.
 * Contract: pure; conservative: it refuses whole constructs, also where one use of them is harmless.
 */
export function checkPattern(pattern: string, maxChars: number): string | undefined {
  if (pattern.length > MAX_PATTERN_CHARS) return `is longer than ${MAX_PATTERN_CHARS} characters`;
  // `\k<name>` comes out of the parser as plain characters.
  if (/^(?:[^\\]|\\[^k])*\\k/s.test(pattern)) return "uses a back-reference";
  let root: Root;
  try {
    root = tokenizer(pattern);
  } catch {
    return "cannot be read; it may hold plain groups, classes and repetitions only";
  }
  const fault = findFault(root);
  if (fault) return fault;
  const starts = isAnchored(root) ? 1 : maxChars;
  if (starts * countWays(root, maxChars) <= MAX_STEPS) return undefined;
  return "may match in too many ways: at most two unbounded repetitions, of which one without ^ at its start counts as another";
}

type Branching = Pick<Root, "stack" | "options">;

function branchesOf({ stack, options }: Branching): readonly (readonly Token[])[] {
  return options ?? [stack ?? []];
}

function findFault(node: Branching): string | undefined {
  for (const token of branchesOf(node).flat()) {
    const fault = faultOf(token);
    if (fault) return fault;
  }
  return undefined;
}

function faultOf(token: Token): string | undefined {
  if (token.type === types.REFERENCE) return "uses a back-reference";
  if (token.type === types.GROUP) {
    return token.followedBy || token.notFollowedBy ? "looks around" : findFault(token);
  }
  if (token.type !== types.REPETITION) return undefined;
  const { value, max } = token;
  if (max > 1 && value.type === types.GROUP) {
    if (hasRepetition(value)) return "repeats a group that contains a repetition";
    if (hasAlternatives(value)) return "repeats a group that contains alternatives";
    if (canBeEmpty(value)) return "repeats a group that can match nothing";
  }
  return faultOf(value);
}

function hasRepetition(token: Token): boolean {
  if (token.type === types.REPETITION) return true;
  return token.type === types.GROUP && branchesOf(token).flat().some(hasRepetition);
}

function hasAlternatives(token: Token): boolean {
  if (token.type !== types.GROUP) return false;
  return token.options !== undefined || branchesOf(token).flat().some(hasAlternatives);
}

/** Asked of groups without repetitions and alternatives only. */
function canBeEmpty(token: Token): boolean {
  if (token.type === types.POSITION) return true;
  return token.type === types.GROUP && branchesOf(token).flat().every(canBeEmpty);
}

function isAnchored(root: Root): boolean {
  return branchesOf(root).every(([first]) => first?.type === types.POSITION && first.value === "^");
}

/** Counts, from above, the ways to match one text from one start: what backtracking may have to try. */
function countWays(node: Branching, maxChars: number): number {
  return branchesOf(node)
    .map((branch) => branch.reduce((ways, token) => ways * waysOf(token, maxChars), 1))
    .reduce((all, ways) => all + ways, 0);
}

function waysOf(token: Token, maxChars: number): number {
  if (token.type === types.GROUP) return countWays(token, maxChars);
  if (token.type !== types.REPETITION) return 1;
  const { min, max, value } = token;
  const counts = Math.min(max, Math.max(min, maxChars)) - min;
  // What is repeated more than once has one way only; what is optional has its own and none.
  return max > 1 ? counts + 1 : counts + waysOf(value, maxChars);
}
