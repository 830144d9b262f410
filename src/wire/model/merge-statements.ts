import { parseArguments, payloadOf } from "../../protocol/tool/call.ts";
import type { ArgumentText } from "./argument-text.ts";

/** What one place of an answer says of a call. An answer may state a call several times. */
export interface CallStatement {
  /** 0: the stream. Otherwise the number of a list, which states each of its calls once. */
  readonly list: number;
  /** Place in the provider's output. */
  readonly place: number | string | undefined;
  readonly id: string | undefined;
  /** The provider's id of the output item. Some providers change it from event to event. */
  readonly itemId: string | undefined;
  readonly name: string;
  readonly arguments: ArgumentText;
  /** The provider stated the call as a whole. */
  readonly isWhole: boolean;
  /** The provider did not say that the call is complete, so blank arguments may be missing ones. */
  readonly isOpen: boolean;
}

/** What two statements are to each other: one call, two calls, or nobody can tell. */
type Relation = "same" | "other" | "unclear";

/**
 * Merges the statements of an answer into its calls; undefined when two readings remain.
 * Threat: a provider that repeats itself, with other ids, without ids or with other spaces. Each
 * repetition that counts as a call of its own makes one effect more.
 * Contract: pure; the calls are in the order of their first statements, the statements of the
 * stream first. Linear in the arguments; compares two statements a bounded number of times.
 */
export function mergeStatements<Stated extends CallStatement>(
  stated: readonly Stated[],
): readonly (readonly Stated[])[] | undefined {
  if (stated.length < 2) return stated.map((one) => [one]);
  const keys = new Map<string, number>();
  const read = stated.map((one) => new Statement(one, keys));
  const lists = Map.groupBy(read, ({ of }) => of.list);
  const calls: Statement<Stated>[][] = [];
  if (!addStreamed(calls, lists.get(0) ?? [])) return undefined;
  lists.delete(0);
  for (const list of lists.values()) if (!addList(calls, list)) return undefined;
  return calls.map((call) => call.map(({ of }) => of));
}

type Call = readonly Statement<CallStatement>[];

/** A statement with what is read of its arguments, when it is needed. */
class Statement<Stated extends CallStatement> {
  readonly of: Stated;
  readonly #keys: Map<string, number>;
  readonly #text: string;
  readonly #textKey: number;
  #payloadKey: number | undefined;
  #canRun: boolean | undefined;

  /** `keys` numbers the texts, so that no pair of long texts is compared. */
  constructor(of: Stated, keys: Map<string, number>) {
    this.of = of;
    this.#keys = keys;
    this.#text = of.arguments.toString();
    this.#textKey = this.#number(this.#text);
  }

  /** It states arguments. */
  get tells(): boolean {
    return !this.of.arguments.blank && !this.of.arguments.overflowed;
  }

  get canRun(): boolean {
    this.#canRun ??= this.tells
      ? parseArguments({ argumentsText: this.#text, truncated: false }).ok
      : this.of.arguments.blank && !this.of.isOpen;
    return this.#canRun;
  }

  get isEmpty(): boolean {
    return payloadOf({ argumentsText: this.#text, truncated: false }) === "{}";
  }

  hasPayloadOf(other: Statement<CallStatement>): boolean {
    return this.#textKey === other.#textKey || this.#key() === other.#key();
  }

  #key(): number {
    const call = { argumentsText: this.#text, truncated: false };
    return (this.#payloadKey ??= this.#number(payloadOf(call)));
  }

  #number(text: string): number {
    const key = this.#keys.get(text) ?? this.#keys.size;
    this.#keys.set(text, key);
    return key;
  }
}

/** Adds the statements of the stream, which may state a call again. */
function addStreamed<Stated extends CallStatement>(
  calls: Statement<Stated>[][],
  streamed: readonly Statement<Stated>[],
): boolean {
  for (const statement of streamed) {
    const relations = calls.map((call) => relate(call, statement));
    const same = calls[relations.indexOf("same")];
    if (same) same.push(statement);
    else if (relations.includes("unclear")) return false;
    else calls.push([statement]);
  }
  return true;
}

function relate(call: Call, statement: Statement<CallStatement>): Relation {
  const relations = new Set(call.map((known) => relatePair(known, statement)));
  if (relations.has("same")) return "same";
  return relations.has("unclear") ? "unclear" : "other";
}

/** Relates two statements of the stream. One that cannot run does no harm on its own. */
function relatePair(a: Statement<CallStatement>, b: Statement<CallStatement>): Relation {
  if (a.of.name !== b.of.name || !a.canRun || !b.canRun) return "other";
  const [sameId, samePlace] = [isEqual(a.of.id, b.of.id), isEqual(a.of.place, b.of.place)];
  // An item id alone proves little, because providers change and repeat it.
  const sameItem = sameId === undefined && isEqual(a.of.itemId, b.of.itemId) === true;
  if (a.hasPayloadOf(b)) {
    if (sameId) return "same";
    if (samePlace === false) return sameItem ? "unclear" : "other";
    return samePlace || sameItem ? "same" : "unclear";
  }
  if (samePlace === false || sameId === false) return "other";
  return sameId || sameItem || a.isEmpty || b.isEmpty ? "unclear" : "other";
}

/** Compares two values; undefined when one is unknown. */
function isEqual<Value>(a: Value | undefined, b: Value | undefined): boolean | undefined {
  return a === undefined || b === undefined ? undefined : a === b;
}

/** Adds a list of the answer's calls: pairs each with a call that is known, or is a new call. */
function addList<Stated extends CallStatement>(
  calls: Statement<Stated>[][],
  list: readonly Statement<Stated>[],
): boolean {
  const known = [...calls];
  const free = new Set(known);
  let left = list;
  for (const isPair of PAIRINGS) {
    left = left.filter((listed) => {
      const call = known.find((one) => free.has(one) && isPair(one, listed));
      if (!call) return true;
      free.delete(call);
      call.push(listed);
      return false;
    });
  }
  for (const listed of left) {
    const isRepeated = known.some((call) => isSame(call, listed) || hasId(call, listed));
    const isInstead = [...free].some((call) => canRun(call) && !hasOtherId(call, listed));
    if (listed.canRun && (isRepeated || isInstead)) return false;
    calls.push([listed]);
  }
  // A call of the stream that the list lacks, although it lists an equal one, may be a repetition.
  return ![...free].some(
    (call) =>
      canRun(call) &&
      known.some((one) => !free.has(one) && call.some((streamed) => isSame(one, streamed))),
  );
}

/** By what a listed call is known again, the strongest first. */
const PAIRINGS: readonly ((call: Call, listed: Statement<CallStatement>) => boolean)[] = [
  (call, listed) => hasId(call, listed) && isSame(call, listed),
  (call, listed) => hasId(call, listed) && mayComplete(call, listed),
  (call, listed) => isAt(call, listed) && isSame(call, listed),
  isSame,
  (call, listed) => isAt(call, listed) && mayComplete(call, listed),
  (call, listed) => mayComplete(call, listed) && (!listed.tells || !canRun(call)),
];

function hasId(call: Call, { of: { id } }: Statement<CallStatement>): boolean {
  return id !== undefined && call.some(({ of }) => of.id === id);
}

function hasOtherId(call: Call, { of: { id } }: Statement<CallStatement>): boolean {
  return id !== undefined && call.every(({ of }) => of.id !== undefined && of.id !== id);
}

function isAt(call: Call, { of: { place, itemId } }: Statement<CallStatement>): boolean {
  return call.some(({ of }) => isEqual(of.place, place) ?? isEqual(of.itemId, itemId) ?? false);
}

function isSame(call: Call, listed: Statement<CallStatement>): boolean {
  return call.some((one) => one.of.name === listed.of.name && one.hasPayloadOf(listed));
}

/** True where one of the two may tell what the other does not: a whole call, or arguments. */
function mayComplete(call: Call, listed: Statement<CallStatement>): boolean {
  const isNamed = call.some(({ of: { name } }) => name === "" || name === listed.of.name);
  return isNamed && (!listed.tells || !call.some(({ of, canRun }) => of.isWhole && canRun));
}

function canRun(call: Call): boolean {
  return call.some((one) => one.canRun);
}
