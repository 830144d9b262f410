import { MAX_TOOL_CALL_ID_CHARS, type ToolCallId } from "../../protocol/identity/ids.ts";
import { ArgumentText } from "./argument-text.ts";
import type { ToolCallFragment } from "./read-chunk.ts";

/** One assembled call; its arguments are not checked yet. */
export interface AssembledCall {
  readonly toolCallId: ToolCallId;
  readonly name: string;
  readonly arguments: ArgumentText;
}

/** No tool has a longer name, so a longer name is dropped. Unit: UTF-16 code units. */
const MAX_NAME_CHARS = 256;

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
  readonly #limits: { readonly maxCalls: number; readonly maxArgumentsBytes: number };
  #indicesReused = false;

  constructor(limits: { readonly maxCalls: number; readonly maxArgumentsBytes: number }) {
    this.#limits = limits;
  }

  /** Adds the fragments of one chunk; false when they would exceed `maxCalls`. */
  add(fragments: readonly ToolCallFragment[]): boolean {
    for (const [position, fragment] of fragments.entries()) {
      // Several fragments without indices in one chunk are several calls, told apart by order.
      const index = fragment.index ?? (fragments.length > 1 ? position : undefined);
      const known = this.#find(fragment, index);
      const starts = known === undefined || startsAnother(known, fragment);
      if (starts && this.#calls.length >= this.#limits.maxCalls) return false;
      this.#extend(starts ? this.#open(index) : known, fragment);
    }
    return true;
  }

  /** Lists the calls in the order asked, each with a unique, non-empty id. */
  list(): readonly AssembledCall[] {
    const ordered = this.#inOrder();
    const ids = new IdGiver(this.#byId.keys());
    return ordered.map((call, position) => ({
      toolCallId: ids.give(call.id, position),
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

  #extend(call: OpenCall, { id, name, arguments: text }: ToolCallFragment): void {
    if (call.id === undefined && id !== undefined && id.length <= MAX_TOOL_CALL_ID_CHARS) {
      call.id = id;
      if (!this.#byId.has(id)) this.#byId.set(id, call);
    }
    if (call.name === "" && name !== undefined && name.length <= MAX_NAME_CHARS) call.name = name;
    if (text === undefined) call.arguments.overflow();
    else call.arguments.append(text);
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

/**
 * Assigns ids: the provider's id at its first use, else a `call_<n>` that the provider never used.
 */
class IdGiver {
  readonly #taken: Set<string>;
  readonly #given = new Set<string>();

  constructor(used: Iterable<string>) {
    this.#taken = new Set(used);
  }

  give(id: string | undefined, position: number): ToolCallId {
    const own = id !== undefined && !this.#given.has(id) ? id : this.#generate(position);
    this.#given.add(own);
    return own as ToolCallId;
  }

  #generate(position: number): string {
    let number = position;
    while (this.#taken.has(`call_${number}`)) number++;
    this.#taken.add(`call_${number}`);
    return `call_${number}`;
  }
}
