import type { UsedNames } from "../../capabilities/used-names.ts";

/** A person of a test used no recipient, account or host before. */
export const NO_USED_NAMES: UsedNames = {
  hash: () => Promise.resolve([]),
  known: () => Promise.resolve(new Set()),
};
