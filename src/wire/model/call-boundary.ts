import type { ArgumentText } from "./argument-text.ts";
import type { ToolCallFragment } from "./event-decoder.ts";

/** What the fragments of a call told so far. */
export interface KnownCall {
  readonly id: string | undefined;
  readonly name: string;
  readonly arguments: ArgumentText;
}

/** True when a fragment with the place or id of a known call starts another call. */
export function startsAnother(
  call: KnownCall,
  { id, name, arguments: text = "" }: ToolCallFragment,
  toolNames: readonly string[],
): boolean {
  if (name === undefined) return false;
  const isComplete = call.arguments.isComplete();
  const hasOtherName = call.name !== "" && name !== call.name;
  if (id !== undefined && id === call.id) return hasOtherName && isComplete;
  if (id !== undefined && call.id !== undefined) return hasOtherName || isComplete;
  if (hasOtherName)
    return isComplete || (call.arguments.blank && areTwoTools(call, name, toolNames));
  return text.trim() !== "" && isComplete && !call.arguments.repeats(text);
}

/** Two names are two calls only where both were offered, and their joined name was not. */
function areTwoTools(call: KnownCall, name: string, toolNames: readonly string[]): boolean {
  return (
    [call.name, name].every((one) => toolNames.includes(one)) &&
    !toolNames.includes(call.name + name)
  );
}

/**
 * Tells whether a fragment has a further piece of the call's name; undefined when nobody can tell.
 * An equal name is a repetition. A name that was offered is a whole name, and no piece.
 */
export function isFurtherPiece(
  call: KnownCall,
  { name }: ToolCallFragment,
  toolNames: readonly string[],
): boolean | undefined {
  if (name === undefined || call.name === "" || name === call.name) return false;
  const isWhole = [call.name, name].some((one) => toolNames.includes(one));
  return isWhole || !call.arguments.blank ? undefined : true;
}
