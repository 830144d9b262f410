import { APPROVALS } from "./approvals.ts";
import { ASSISTANTS } from "./assistants.ts";
import { AUDIT } from "./audit.ts";
import { DIRECT_CALLS } from "./direct-calls.ts";
import { COMPENSATION } from "./compensation.ts";
import { ENVIRONMENTS } from "./environments.ts";
import { FILES } from "./files.ts";
import { GAMEPLAN } from "./gameplan.ts";
import { GROWTH } from "./growth.ts";
import { HIDDEN_VALUES } from "./hidden-values.ts";
import { IDENTITY } from "./identity.ts";
import { BUDGETS } from "./budgets.ts";
import { INPUTS } from "./inputs.ts";
import { MODELS } from "./models.ts";
import type { Mutant } from "./mutant.ts";
import { PAGE } from "./page.ts";
import { PROVIDERS } from "./providers.ts";
import { RELIABILITY } from "./reliability.ts";
import { RUNS } from "./runs.ts";
import { SAGAS } from "./sagas.ts";
import { SECRECY } from "./secrecy.ts";
import { SINGLE_PATH } from "./single-path.ts";
import { TOOL_CONTENT } from "./tool-content.ts";
import { UNDO } from "./undo.ts";
import { VERIFICATION } from "./verification.ts";
import { WIRES } from "./wires.ts";
import { WORKSPACES } from "./workspaces.ts";
import { INCARNATIONS } from "./incarnations.ts";
import { READERS } from "./readers.ts";
import { STORED_DATA } from "./stored-data.ts";
import { APPROVAL_PACKETS } from "./approval-packets.ts";
import { RUNNER } from "./runner.ts";
import { TEXTS } from "./texts.ts";
import { LOOP } from "./loop.ts";
import { PAGE_APPROVALS } from "./page-approvals.ts";
import { PAGE_CHAT } from "./page-chat.ts";
import { AUDIT_EXPORT } from "./audit-export.ts";

/** What `npm run mutants` can take away, by area. */
export const AREAS: { readonly [area: string]: readonly Mutant[] } = {
  reliability: RELIABILITY,
  approvals: APPROVALS,
  audit: AUDIT,
  identity: IDENTITY,
  budgets: BUDGETS,
  compensation: COMPENSATION,
  gameplan: GAMEPLAN,
  growth: GROWTH,
  page: PAGE,
  inputs: INPUTS,
  runs: RUNS,
  sagas: SAGAS,
  secrecy: SECRECY,
  "hidden-values": HIDDEN_VALUES,
  "single-path": SINGLE_PATH,
  undo: UNDO,
  wires: WIRES,
  assistants: ASSISTANTS,
  providers: PROVIDERS,
  models: MODELS,
  "direct-calls": DIRECT_CALLS,
  environments: ENVIRONMENTS,
  files: FILES,
  "tool-content": TOOL_CONTENT,
  workspaces: WORKSPACES,
  verification: VERIFICATION,
  incarnations: INCARNATIONS,
  readers: READERS,
  "stored-data": STORED_DATA,
  "approval-packets": APPROVAL_PACKETS,
  runner: RUNNER,
  texts: TEXTS,
  loop: LOOP,
  "page-approvals": PAGE_APPROVALS,
  "page-chat": PAGE_CHAT,
  "audit-export": AUDIT_EXPORT,
};
