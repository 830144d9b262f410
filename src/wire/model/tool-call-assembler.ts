import { MAX_TOOL_CALL_ID_CHARS, type ToolCallId } from "../../protocol/identity/ids.ts";
import { ArgumentText } from "./argument-text.ts";
import type { ToolCallFragment } from "./stream-reader.ts";

/** One assembled call; its arguments are not checked yet. */
export interface AssembledCall {
  readonly toolCallId: ToolCallId;
  readonly name: string;
  readonly arguments: ArgumentText;
}

/** No tool has a longer name, so a longer name is cut. Unit: UTF-16 code units. */
const MAX_NAME_CHARS = 256;

interface AssemblerLimits {
  readonly maxCalls: number;
  readonly maxArgumentsBytes: number;
}

interface OpenCall {
  readonly index: number | string | undefined;
  id: string | undefined;
  name: string;
  readonly arguments: ArgumentText;
}

/**
 * Assembles tool calls from fragments. Fragments may lack an index, an id or a name, may repeat
 * them, and may share them between calls.
 * Contract: linear in the fragments; holds at most `maxCalls` calls, for any indices.
 */
export class ToolCallAssembler {
  readonly #calls: OpenCall[] = [];
  readonly #byIndex = new Map<number | string, OpenCall>();
  readonly #byId = new Map<string, OpenCall>();
  readonly #limits: AssemblerLimits;
  readonly #toolNames: readonly string[];
  #indicesReused = false;

  /** `toolNames` are the names that the model was offered. */
  constructor(limits: AssemblerLimits, toolNames: readonly string[]) {
    this.#limits = limits;
    this.#toolNames = toolNames;
  }

  /** Adds the fragments of one chunk; false when they would exceed `maxCalls`. */
  add(fragments: readonly ToolCallFragment[]): boolean {
    for (const [position, fragment] of fragments.entries()) {
      // Several fragments without indices in one chunk are several calls, told apart by order.
      const index = fragment.index ?? (fragments.length > 1 ? position : undefined);
      const known = this.#find(fragment, index);
      const continued = known && this.#continuedName(known, fragment);
      if (known && continued !== undefined) known.name = continued;
      const isMore = fragment.isWhole === true || continued !== undefined;
      const starts = !known || (!isMore && startsAnother(known, fragment));
      if (starts && this.#calls.length >= this.#limits.maxCalls) return false;
      this.#extend(starts ? this.#open(index) : known, fragment);
    }
    return true;
  }

  /** Lists the calls in the order asked. Each has an id; a provider may repeat its own ids. */
  list(): readonly AssembledCall[] {
    const ordered = this.#inOrder();
    const ids = new IdGiver(this.#byId.keys());
    return ordered.map((call, position) => ({
      toolCallId: (call.id ?? ids.generate(position)) as ToolCallId,
      name: call.name,
      arguments: call.arguments,
    }));
  }

  #find(fragment: ToolCallFragment, index: number | string | undefined): OpenCall | undefined {
    const withId = fragment.id === undefined ? undefined : this.#byId.get(fragment.id);
    if (withId && fragment.index === undefined && fragment.name === undefined) return withId;
    const atIndex = index === undefined ? undefined : this.#byIndex.get(index);
    if (atIndex) return atIndex;
    if (index === undefined) {
      const isNew = fragment.id !== undefined && fragment.name !== undefined;
      return withId ?? (isNew ? undefined : this.#calls.at(-1));
    }
    // At a new index, a fragment with a name starts a call, also under a known id. A fragment
    // without a name continues the call of that id.
    return fragment.name === undefined ? withId : undefined;
  }

  /**
   * Joins a name that arrives in pieces; undefined when the fragment has no further piece. Two
   * names are pieces of one name only where the model was offered no piece but the joined name.
   */
  #continuedName(call: OpenCall, { id, name }: ToolCallFragment): string | undefined {
    if (name === undefined || call.name === "" || !call.arguments.blank) return undefined;
    if (id !== undefined && id !== call.id) return undefined;
    const joined = call.name + name;
    const isPiece = !this.#toolNames.includes(call.name) && !this.#toolNames.includes(name);
    return isPiece && this.#toolNames.some((offered) => offered.startsWith(joined))
      ? joined
      : undefined;
  }

  #open(index: number | string | undefined): OpenCall {
    const call: OpenCall = {
      index,
      id: undefined,
      name: "",
      arguments: new ArgumentText(this.#limits.maxArgumentsBytes),
    };
    const place = index ?? this.#calls.length;
    if (this.#byIndex.has(place)) this.#indicesReused = true;
    this.#byIndex.set(place, call);
    this.#calls.push(call);
    return call;
  }

  #extend(call: OpenCall, { id, name, arguments: text, isWhole }: ToolCallFragment): void {
    const isNewId = call.id === undefined || isWhole === true;
    if (isNewId && id !== undefined && id.length <= MAX_TOOL_CALL_ID_CHARS) {
      call.id = id;
      if (!this.#byId.has(id)) this.#byId.set(id, call);
    }
    if (call.name === "" && name !== undefined) call.name = name.slice(0, MAX_NAME_CHARS);
    if (text === undefined) call.arguments.overflow();
    else if (isWhole) call.arguments.replace(text);
    else call.arguments.append(text);
  }

  hasAny(): boolean {
    return this.#calls.length > 0;
  }

  /** Tells whether a call never got a name. */
  hasNameless(): boolean {
    return this.#calls.some(({ name }) => name === "");
  }

  /** Orders calls by their index, the place in the list, unless the provider reuses indices. */
  #inOrder(): readonly OpenCall[] {
    const places = this.#calls.map((call) => call.index);
    const ruled = !this.#indicesReused && places.every((place) => typeof place === "number");
    if (!ruled) return this.#calls;
    return this.#calls.toSorted((a, b) => Number(a.index) - Number(b.index));
  }
}

/** True when a fragment with the place or id of a known call starts another call. */
function startsAnother(call: OpenCall, fragment: ToolCallFragment): boolean {
  if (fragment.name === undefined) return false;
  const otherName = call.name !== "" && fragment.name !== call.name;
  const sameId = fragment.id !== undefined && fragment.id === call.id;
  if (sameId) return otherName && call.arguments.isComplete();
  const otherId = fragment.id !== undefined && call.id !== undefined;
  if (otherId) return otherName || call.arguments.isComplete();
  if (otherName) return call.arguments.blank || call.arguments.isComplete();
  const text = fragment.arguments ?? "";
  return text.trim() !== "" && call.arguments.isComplete() && !call.arguments.repeats(text);
}

/** Generates ids for calls without one: a `call_<n>` that the provider never used. */
class IdGiver {
  readonly #taken: Set<string>;

  constructor(used: Iterable<string>) {
    this.#taken = new Set(used);
  }

  generate(position: number): string {
    let number = position;
    while (this.#taken.has(`call_${number}`)) number++;
    this.#taken.add(`call_${number}`);
    return `call_${number}`;
  }
}
