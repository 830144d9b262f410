import type { ActorId } from "../identity/ids.ts";
import { fromPointer, memberOf } from "../json/pointer.ts";
import { isJsonArray, type JsonObject, type JsonValue } from "../json/value.ts";
import type { ShownStates } from "./packet.ts";
import type { ApprovalRequirement } from "./requirement.ts";

/**
 * The people whom fields of a call name, by the pointer to the field. Null: the field names nobody
 * that can be read, so nobody may approve under a rule that asks about it.
 */
export type NamedPeople = Readonly<Record<string, readonly string[] | null>>;

/** Where the people of a call may stand. */
export interface NamingCall {
  /** Validated, not redacted. */
  readonly args: JsonObject;
  /** Of the contract's preview, redacted. */
  readonly states: ShownStates;
}

/**
 * Reads the people whom the fields of `approverIsNot` name. Contract: pure. Undefined when no
 * requirement asks.
 */
export function readNamedPeople(
  requirements: readonly Pick<ApprovalRequirement, "approverIsNot">[],
  call: NamingCall,
): NamedPeople | undefined {
  const pointers = requirements.flatMap(({ approverIsNot = [] }) => approverIsNot);
  if (pointers.length === 0) return undefined;
  return Object.fromEntries(pointers.map((pointer) => [pointer, readNames(pointer, call)]));
}

/** A state, and the pointer into it; a pointer into the arguments has no prefix. */
const IN_STATE = /^(before|after):/;

function readNames(pointer: string, { args, states }: NamingCall): readonly string[] | null {
  const state = IN_STATE.exec(pointer)?.[1];
  const of = state ? states[state === "before" ? "beforeState" : "afterState"] : args;
  const names = valuesAt(of ?? undefined, fromPointer(pointer)).flatMap(
    (value): readonly unknown[] => (isJsonArray(value) ? value : [value]),
  );
  return names.every(isName) ? names : null;
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/** Lists the values at a path; `*` means every item of a list. A missing one is undefined. */
function valuesAt(
  value: JsonValue | undefined,
  [key, ...rest]: readonly string[],
): readonly (JsonValue | undefined)[] {
  if (key === undefined) return [value];
  if (key !== "*") return valuesAt(memberOf(value, key), rest);
  return isJsonArray(value) ? value.flatMap((item) => valuesAt(item, rest)) : [undefined];
}

/**
 * Tells whether one of the fields names a person, or cannot be read. A field holds the id of an
 * actor, with or without `user:`.
 * Threat: the field spells the id in other letters, so that the person it names may approve.
 */
export function isNamed(
  named: NamedPeople | undefined,
  pointers: readonly string[],
  actorId: ActorId,
): boolean {
  return pointers.some((pointer) => {
    const names = named?.[pointer];
    return !names || names.some((name) => nameOf(name) === nameOf(actorId));
  });
}

function nameOf(id: string): string {
  return id
    .normalize("NFKC")
    .trim()
    .toLowerCase()
    .replace(/^user:/, "");
}
