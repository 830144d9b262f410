import { createPolicyAuthorization } from "../../adapters/policy/policy-authorization.ts";
import type { AnyToolContract } from "../../contracts/define/definition.ts";
import { registerContracts } from "../../contracts/check/register.ts";
import { bindTools } from "../../contracts/bind/tool-source.ts";
import type { ApprovalRequirement } from "../../protocol/approval/requirement.ts";
import type { ConnectionId, ToolCallId } from "../../protocol/identity/ids.ts";
import type { Principal } from "../../protocol/identity/principal.ts";
import { soleWorkspace } from "../../protocol/policy/membership.ts";
import type { FieldError, ToolFailure } from "../../protocol/outcome/observation.ts";
import type { TaxonomyClass } from "../../protocol/outcome/taxonomy.ts";
import { NO_FLOW } from "../../runner/flow/evidence.ts";
import { restoreRunBudget } from "../../runner/budget/of-run.ts";
import { approvalTermsOf } from "../../runner/approval/approval-terms.ts";
import { checkAllowed } from "../../runner/gates/check-allowed.ts";
import { GateTrail } from "../../runner/gates/gate.ts";
import { obeyPolicy } from "../../runner/gates/obey-policy.ts";
import { readArguments } from "../../runner/gates/read-arguments.ts";
import type { PolicySubject } from "../../runner/gates/subjects.ts";
import { fillNode20 } from "../fill-node-20.ts";
import { FakeClock } from "../time/fake-clock.ts";
import { readTime } from "../time/read-time.ts";
import type { RunSettings } from "../run/run-settings.ts";
import { readPolicy } from "./test-policy.ts";

/** What a policy decides about one call. */
export type PolicyAnswer =
  | { readonly decision: "allow" }
  /** People have to approve the call. */
  | { readonly decision: "ask"; readonly requirements: readonly ApprovalRequirement[] }
  | {
      readonly decision: "refuse";
      /** The gate that refuses, see docs/gates.md. */
      readonly gate: string;
      readonly taxonomyClass: TaxonomyClass;
      readonly errors: readonly FieldError[];
    };

/** The call that a policy decides about. */
export interface PolicyQuestion {
  readonly tool: AnyToolContract;
  readonly args: object;
  readonly principal: Principal;
  /** The assistant of the run. Default: none, as in a direct call. */
  readonly assistantId?: string;
  /** The models that may answer in the run. Default: none, as in a direct call. */
  readonly models?: readonly string[];
  /** Classes of the data that the model was shown before. Default: none. */
  readonly shownData?: PolicySubject["shownData"];
  /** Connections that the request names. Default: none. */
  readonly connectionIds?: readonly string[];
  /** The workspace of the run. Default: the one of which the caller is a member. */
  readonly workspaceId?: string;
  /** The time of the call. Grants expire. */
  readonly now?: RunSettings["now"];
}

/**
 * Tells whether a policy allows a call, asks people first, or refuses it, and which gate refuses.
 * It asks the gates that the runner asks, and runs no tool.
 * Fails: throws for a document that is no policy and a contract that cannot be registered.
 */
export async function decidePolicy(
  document: unknown,
  question: PolicyQuestion,
): Promise<PolicyAnswer> {
  fillNode20();
  const { principal, connectionIds = [], assistantId, models = [], shownData = [] } = question;
  const policy = readPolicy(document);
  const { workspaceId = soleWorkspace(policy, principal) } = question;
  const clock = new FakeClock(readTime(question.now));
  const tool = bind(question.tool, clock);
  const trail = new GateTrail();
  const terms = { policy };
  const ports = {
    principal,
    caller: { ...principal, assistantId, models },
    clock,
    connectionIds: connectionIds as readonly ConnectionId[],
    workspaceId,
    authorizationOf: createPolicyAuthorization,
    budget: restoreRunBudget([], { policy }),
    flow: NO_FLOW,
  };
  const allowed = checkAllowed(ports, { terms, tool, shownData }, trail);
  if (!allowed.ok) return refuse(trail, allowed.failure);
  const argumentsText = JSON.stringify(question.args);
  const read = await readArguments(tool, { argumentsText, truncated: false }, trail);
  if (!read.ok) return refuse(trail, read.failure.failure);
  const operation = { step: 1, toolCallId: "call_1_1" as ToolCallId };
  const call = { terms, tool, args: read.value.args, operation, shownData };
  const obeyed = await obeyPolicy(ports, call, trail);
  if (!obeyed.ok) return refuse(trail, obeyed.failure);
  const approval = approvalTermsOf({
    ...obeyed.value,
    evidence: undefined,
    pinned: policy,
    current: policy,
  });
  return approval
    ? { decision: "ask", requirements: approval.requirements }
    : { decision: "allow" };
}

function bind(contract: AnyToolContract, clock: FakeClock) {
  const contracts = registerContracts([withoutCompanions(contract)]);
  const unused = { clock, runTitle: { set: () => {} }, egress: NO_NETWORK };
  const tool = bindTools(contracts, unused).getBoundTool(contract.name, contract.version);
  if (!tool) throw new Error(`${contract.name} cannot be bound`);
  return tool;
}

/** No gate of a policy asks about the tool that undoes a call. */
function withoutCompanions(contract: AnyToolContract): AnyToolContract {
  return { ...contract, transactional: { ...contract.transactional, compensationTool: null } };
}

const NO_NETWORK = {
  bind(): never {
    throw new Error("a policy decision reaches no network");
  },
  addressesOf: () => [],
};

function refuse(trail: GateTrail, { taxonomyClass, errors }: ToolFailure): PolicyAnswer {
  const gate = trail.results.refusedBy ?? "policy";
  return { decision: "refuse", gate, taxonomyClass, errors };
}
