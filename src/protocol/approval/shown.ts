import { toCanonicalJson } from "../json/canonical-hash.ts";
import { fromPointer, leavesOf } from "../json/pointer.ts";
import type { JsonObject, JsonValue } from "../json/value.ts";
import type { ConfirmationPacket } from "./packet.ts";

/** What a packet shows before the time to decide is known. */
export type ShownCall = Omit<ConfirmationPacket, "expiresAt">;

/** A shown value that differs from the one that people saw. */
export interface ShownChange {
  /** JSON pointer into the packet. */
  readonly pointer: string;
  /** Absent: the packet had no such value. */
  readonly before?: JsonValue;
  /** Absent: the packet has no such value any more. */
  readonly after?: JsonValue;
}

/** More changes of one field of a packet become one change of the whole field. */
const MAX_CHANGES = 50;

/**
 * Lists how what a packet shows now differs from what people saw. Fields of the state that the seen
 * packet names as drifting do not count. Neither do the time to decide and the fingerprint of the
 * key, which say nothing about the call, and a question, whose answer stands in the arguments.
 * Contract: pure; empty exactly when people would agree to the same again.
 */
export function diffShown(seen: ShownCall, now: ShownCall): readonly ShownChange[] {
  const [before, after] = [boundPart(seen), boundPart(now)];
  const drifting = (seen.drifting ?? []).map(({ field }) => field.split("."));
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((field) => {
    const change = changeOf(`/${field}`, before[field], after[field]);
    const leaves = diffLeaves(change, field.endsWith("State") ? drifting : []);
    return leaves.length > MAX_CHANGES ? [change] : leaves;
  });
}

/** The part of a packet to which people agree. */
export function boundPart(packet: ShownCall & { readonly expiresAt?: string }): JsonObject {
  const { expiresAt: _, idempotencyFingerprint: __, question: ___, ...bound } = packet;
  return bound;
}

function diffLeaves(
  { pointer, before, after }: ShownChange,
  drifting: readonly (readonly string[])[],
): readonly ShownChange[] {
  const [earlier, later] = [leafMap(pointer, before), leafMap(pointer, after)];
  return [...new Set([...earlier.keys(), ...later.keys()])]
    .filter((leaf) => !drifting.some((path) => isWithin(fromPointer(leaf).slice(1), path)))
    .map((leaf) => changeOf(leaf, earlier.get(leaf), later.get(leaf)))
    .filter((change) => write(change.before) !== write(change.after));
}

function leafMap(pointer: string, value: JsonValue | undefined): Map<string, JsonValue> {
  // A state that is not known has no values.
  const leaves = value === undefined || value === null ? [] : leavesOf(value, pointer);
  return new Map([...leaves].map((leaf) => [leaf.pointer, leaf.value]));
}

function isWithin(path: readonly string[], drifting: readonly string[]): boolean {
  return drifting.every((name, at) => at < path.length && (name === "*" || name === path[at]));
}

function write(value: JsonValue | undefined): string | undefined {
  return value === undefined ? undefined : toCanonicalJson(value);
}

function changeOf(
  pointer: string,
  before: JsonValue | undefined,
  after: JsonValue | undefined,
): ShownChange {
  return {
    pointer,
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
  };
}
