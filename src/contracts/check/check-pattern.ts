// The package's main file assigns to its own exports in a way that workerd's module loader refuses.
import { tokenizer } from "ret/dist/tokenizer.js";
import { types, type Root, type Token } from "ret/dist/types/index.js";

const MAX_PATTERN_CHARS = 1024;
/** Most steps that a match of one text may take. An isolate needs a second or two for them. */
const MAX_STEPS = 2 ** 31;

/**
 * Tells why a regular expression is unsafe for text that a model wrote; undefined when it is safe.
 * `maxChars` is the length of the longest such text.
 * Threat: a pattern that backtracks on a long text blocks the isolate.
 * Contract: pure. It refuses whole constructs, even where one use of a construct is harmless.
 */
export function checkPattern(pattern: string, maxChars: number): string | undefined {
  if (pattern.length > MAX_PATTERN_CHARS) return `is longer than ${MAX_PATTERN_CHARS} characters`;
  // The parser reads `\k<name>` as plain characters.
  if (/^(?:[^\\]|\\[^k])*\\k/s.test(pattern)) return "uses a back-reference";
  let root: Root;
  try {
    root = tokenizer(pattern);
  } catch {
    return "cannot be read; use only plain groups, classes and repetitions";
  }
  const fault = findFault(root);
  if (fault) return fault;
  const starts = isAnchored(root) ? 1 : maxChars;
  if (starts * countWays(root, maxChars) <= MAX_STEPS) return undefined;
  return TOO_MANY_WAYS;
}

const TOO_MANY_WAYS =
  "may match in too many ways; use at most two unbounded repetitions, " +
  "or one if the pattern does not start with ^";

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

/** Contract: the group holds no repetition and no alternatives. */
function canBeEmpty(token: Token): boolean {
  if (token.type === types.POSITION) return true;
  return token.type === types.GROUP && branchesOf(token).flat().every(canBeEmpty);
}

function isAnchored(root: Root): boolean {
  return branchesOf(root).every(([first]) => first?.type === types.POSITION && first.value === "^");
}

/**
 * Counts an upper bound of the ways to match one text from one start. Backtracking may try each.
 */
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
  // A repeated token has one way only. An optional token has its own ways, and one more for none.
  return max > 1 ? counts + 1 : counts + waysOf(value, maxChars);
}
