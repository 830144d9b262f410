import { APPROVALS } from "./approvals.ts";
import { AUDIT } from "./audit.ts";
import { IDENTITY } from "./identity.ts";
import { BUDGETS } from "./budgets.ts";
import type { Mutant } from "./mutant.ts";
import { RELIABILITY } from "./reliability.ts";
import { SINGLE_PATH } from "./single-path.ts";

/** What `npm run mutants` can take away, by area. */
export const AREAS: { readonly [area: string]: readonly Mutant[] } = {
  reliability: RELIABILITY,
  approvals: APPROVALS,
  audit: AUDIT,
  identity: IDENTITY,
  budgets: BUDGETS,
  "single-path": SINGLE_PATH,
};
