import type { EntityName } from "./entities/activity.ts";
import type { BinItem } from "./entities/bin-item.ts";

/** Names a row and its revision, as a call left it, for the tool that takes the call back. */
export function rowArgs(
  entity: EntityName,
  { id, revision }: { readonly id: string; readonly revision: number },
) {
  return { entity, id, revision };
}

/** Takes a deletion back: the row leaves the bin. */
export const TAKE_FROM_BIN = {
  tool: "restore",
  args: ({ binItem }: { readonly binItem: BinItem }) => rowArgs(binItem.entity, binItem),
};
