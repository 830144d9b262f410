import { MAX_TOOL_CALL_ID_CHARS, type ToolCallId } from "../../protocol/identity/ids.ts";
import { payloadOf } from "../../protocol/tool/call.ts";
import { ArgumentText } from "./argument-text.ts";
import { isFurtherPiece, type KnownCall, startsAnother } from "./call-boundary.ts";
import { type CallStatement, mergeStatements } from "./merge-statements.ts";
import type { ToolCallFragment } from "./event-decoder.ts";

/** One assembled call; its arguments are not checked yet. */
export interface AssembledCall {
  readonly toolCallId: ToolCallId;
  readonly name: string;
  readonly arguments: ArgumentText;
  /** The provider never said that the call is complete, so it may be cut off. */
  readonly isCut: boolean;
}

/** No tool has a longer name, so a longer name is cut. Unit: UTF-16 code units. */
const MAX_NAME_CHARS = 256;

interface AssemblerLimits {
  readonly maxCalls: number;
  readonly maxArgumentsBytes: number;
}

type OpenCall = { -readonly [Field in keyof CallStatement]: CallStatement[Field] };

/**
 * Assembles tool calls from fragments. Fragments may lack an index, an id or a name, may repeat
 * them, and may share them between calls. A provider may state a call several times.
 * Contract: linear in the fragments; holds at most `maxCalls` calls of the stream and of each list,
 * for any indices.
 */
export class ToolCallAssembler {
  readonly #calls: OpenCall[] = [];
  readonly #byKey = new Map<number, OpenCall>();
  readonly #byIndex = new Map<number | string, OpenCall>();
  readonly #byId = new Map<string, OpenCall>();
  readonly #countOf = new Map<number, number>();
  readonly #limits: AssemblerLimits;
  readonly #toolNames: readonly string[];
  /** The newest call without a key. */
  #newest: OpenCall | undefined;
  #indicesReused = false;
  #isUnclear = false;

  /** `toolNames` are the names that the model was offered. */
  constructor(limits: AssemblerLimits, toolNames: readonly string[]) {
    this.#limits = limits;
    this.#toolNames = toolNames;
  }

  /** Adds the fragments of one chunk; false when they would exceed `maxCalls`. */
  add(fragments: readonly ToolCallFragment[]): boolean {
    for (const [position, fragment] of fragments.entries()) {
      const { key } = fragment;
      // Several fragments without indices in one chunk are several calls, told apart by order.
      const index = fragment.index ?? (fragments.length > 1 ? position : undefined);
      const known = key === undefined ? this.#continue(fragment, index) : this.#byKey.get(key);
      const call = known ?? this.#open(fragment, key === undefined ? index : fragment.index);
      if (!call) return false;
      this.#extend(call, fragment);
    }
    return true;
  }

  /**
   * Lists the calls in the order asked; undefined when two readings of the answer remain. Each has
   * an id; a provider may repeat its own ids.
   */
  list(): readonly AssembledCall[] | undefined {
    const merged = this.#isUnclear ? undefined : mergeStatements(this.#inOrder());
    const ids = new IdGiver(this.#byId.keys());
    return merged?.map((statements, position) => {
      const listed = statements.filter(({ list }) => list > 0);
      const text = (listed.findLast((one) => !one.arguments.blank) ?? statements[0])?.arguments;
      const id = statements.find((one) => one.id !== undefined)?.id;
      const isOpen = statements.every((one) => one.isOpen);
      return {
        toolCallId: (id ?? ids.generate(position)) as ToolCallId,
        name: statements.find(({ name }) => name !== "")?.name ?? "",
        arguments: text ?? new ArgumentText(0),
        isCut: isOpen && (listed.length > 0 || text?.blank === true),
      };
    });
  }

  /** Finds the call that a fragment without a key continues; undefined when it starts a call. */
  #continue(fragment: ToolCallFragment, index: number | string | undefined): OpenCall | undefined {
    const call = this.#find(fragment, index);
    if (!call || startsAnother(call, fragment, this.#toolNames)) return undefined;
    const isPiece = isFurtherPiece(call, fragment, this.#toolNames);
    if (isPiece === undefined) this.#isUnclear = true;
    if (isPiece) call.name = (call.name + fragment.name).slice(0, MAX_NAME_CHARS);
    return call;
  }

  #find(fragment: ToolCallFragment, index: number | string | undefined): OpenCall | undefined {
    const called = fragment.id === undefined ? undefined : this.#byId.get(fragment.id);
    const withId = called?.list === 0 ? called : undefined;
    if (withId && fragment.index === undefined && fragment.name === undefined) return withId;
    const atIndex = index === undefined ? undefined : this.#byIndex.get(index);
    if (atIndex) return atIndex;
    if (index === undefined) {
      const isNew = fragment.id !== undefined && fragment.name !== undefined;
      return withId ?? (isNew ? undefined : this.#newest);
    }
    // At a new index, a fragment with a name starts a call, also under a known id. A fragment
    // without a name continues the call of that id.
    return fragment.name === undefined ? withId : undefined;
  }

  /** Opens a call; undefined when there are too many. */
  #open(
    { key, itemId, list = 0, isOpen = false }: ToolCallFragment,
    place: number | string | undefined,
  ): OpenCall | undefined {
    const count = (this.#countOf.get(list) ?? 0) + 1;
    if (count > this.#limits.maxCalls) return undefined;
    this.#countOf.set(list, count);
    const text = new ArgumentText(this.#limits.maxArgumentsBytes);
    const call: OpenCall = {
      list,
      place,
      id: undefined,
      itemId,
      name: "",
      arguments: text,
      isWhole: false,
      isOpen,
    };
    if (key !== undefined) this.#byKey.set(key, call);
    else {
      const at = place ?? this.#calls.length;
      if (this.#byIndex.has(at)) this.#indicesReused = true;
      this.#byIndex.set(at, call);
      this.#newest = call;
    }
    this.#calls.push(call);
    return call;
  }

  #extend(call: OpenCall, fragment: ToolCallFragment): void {
    const { id, name, arguments: text, isWhole = false } = fragment;
    const isNewId = call.id === undefined || isWhole;
    if (isNewId && id !== undefined && id.length <= MAX_TOOL_CALL_ID_CHARS) {
      call.id = id;
      if (!this.#byId.has(id)) this.#byId.set(id, call);
    }
    if (isWhole) this.#isUnclear ||= contradicts(call, fragment);
    if (call.name === "" && name !== undefined) call.name = name.slice(0, MAX_NAME_CHARS);
    if (fragment.key !== undefined) call.place ??= fragment.index;
    call.itemId ??= fragment.itemId;
    call.isOpen = fragment.isOpen ?? call.isOpen;
    call.isWhole ||= isWhole;
    if (text === undefined) call.arguments.overflow();
    else if (isWhole) call.arguments.replace(text);
    else call.arguments.append(text);
  }

  hasAny(): boolean {
    return this.#calls.length > 0;
  }

  /** Orders calls by their index, the place in the list, unless the provider reuses indices. */
  #inOrder(): readonly OpenCall[] {
    const places = this.#calls.map(({ place }) => place);
    const isKeyed = this.#byKey.size > 0;
    const ruled =
      !isKeyed && !this.#indicesReused && places.every((place) => typeof place === "number");
    if (!ruled) return this.#calls;
    return this.#calls.toSorted((a, b) => Number(a.place) - Number(b.place));
  }
}

/** True when a whole call has another name than before, or other arguments than a whole before. */
function contradicts(call: KnownCall & { isWhole: boolean }, fragment: ToolCallFragment): boolean {
  const { name = call.name, arguments: text = "" } = fragment;
  if (call.name !== "" && name !== call.name) return true;
  if (!call.isWhole || call.arguments.blank || text.trim() === "") return false;
  const [before, after] = [call.arguments.toString(), text].map((argumentsText) =>
    payloadOf({ argumentsText, truncated: false }),
  );
  return before !== after && !call.arguments.overflowed;
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
