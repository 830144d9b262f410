import * as v from "valibot";
import type { WorkspaceBinder } from "../../../../src/capabilities/workspace.ts";
import type { AuthorCode } from "../../../../src/contracts/define/author-code.ts";
import { revealCode } from "../../../../src/contracts/define/author-code.ts";
import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { ok } from "../../../../src/protocol/outcome/result.ts";
import type { FailureClass } from "../../../../src/protocol/outcome/taxonomy.ts";
import { endOf } from "../../../../src/testing/fakes/runner-ports.ts";
import { WAITING } from "../../../../src/runner/waiting.ts";
import { fakeWorkspaces } from "../fake-workspaces.ts";
import type { Subject } from "../subject.ts";
import { inapplicable, type TestMode } from "../test-mode.ts";
import { failing, openTrial, type TrialSettings } from "../trial.ts";

/** Arguments that are tried in each state. */
const CALLS = 5;

/**
 * Nobody is asked to approve a call that the tool refuses at that moment. The mode makes the tool
 * refuse, and then calls it again as one that still needs its approval.
 */
export const vainQuestions: TestMode = {
  id: "vain",
  name: "Vain Questions",
  async run(subject, checks) {
    const { confirmationRequired } = subject.contract.transactional;
    if (!confirmationRequired) return inapplicable("its contract asks for no approval");
    let refusals = 0;
    for (const { state, settings } of statesOf(subject)) {
      for (const args of subject.validArgs.slice(0, CALLS)) {
        const refusal = await refusalOf(subject, settings, args);
        if (refusal === undefined) continue;
        refusals++;
        const isAsked = await waits(subject, settings, args);
        const rule = "nobody is asked about a call that the tool refuses; see checkState";
        checks.that(rule, !isAsked, { where: state, refusal, args });
      }
    }
    return refusals === 0 ? inapplicable(NEVER) : undefined;
  },
};

const NEVER = "in no state of the test it refuses before it sends a request that changes something";

interface State {
  /** Completes "the tool refuses where …". */
  readonly state: string;
  readonly settings: TrialSettings;
}

function statesOf({ contract }: Subject): readonly State[] {
  const states: State[] = [
    { state: "everything is as its samples say", settings: {} },
    {
      state: "nothing that it names exists",
      settings: {
        ports: { workspaces: refusing(() => true) },
        service: () => new Response(null, { status: 404 }),
      },
    },
  ];
  // A saga cannot try the writes of its steps before they are made.
  if (contract.workspace === undefined || contract.saga) return states;
  const ports = { workspaces: refusing((kind) => kind === "write") };
  return [...states, { state: "its operation refuses what it writes", settings: { ports } }];
}

/** Operations of some kinds refuse, and so do their rehearsals. */
function refusing(refuses: (kind: "read" | "write") => boolean): WorkspaceBinder {
  const refusal = failing("STALE_STATE");
  return {
    bind(binding) {
      const bound = fakeWorkspaces.bind(binding);
      return {
        call: async (operation, args) =>
          refuses(operation.kind) ? refusal : await bound.call(operation, args),
        rehearse: async (operation, args) =>
          refuses(operation.kind) ? refusal : await bound.rehearse(operation, args),
      };
    },
  };
}

/** Tells whether people are asked about a call. */
async function waits(
  subject: Subject,
  settings: TrialSettings,
  args: JsonObject,
): Promise<boolean> {
  const { ask } = openTrial(subject, {
    ...settings,
    approved: false,
    // Of a saga too, in place of the stand-in.
    code: (own) => ({ ...(own.checkState && { checkState: own.checkState.bind(own) }) }),
  });
  return (await ask(args)) === WAITING;
}

/** Classes that say nothing about what the tool decided. */
const UNDECIDED: ReadonlySet<string> = new Set<FailureClass>([
  "DEPENDENCY_UNAVAILABLE",
  "OBSERVATION_NORMALIZATION_FAIL",
  "TIMEOUT",
  "UNKNOWN_ERROR",
]);

/**
 * Runs the tool as if its approval were given and its state were never checked. Returns how it
 * refuses; undefined for a call that it does not refuse, or that only a service refused.
 */
async function refusalOf(
  subject: Subject,
  settings: TrialSettings,
  args: JsonObject,
): Promise<readonly [string, string | undefined] | undefined> {
  let hasRun = false;
  const { ask, network } = openTrial(subject, {
    ...settings,
    code: (own) => ({
      checkState: () => ok(null),
      execute(given, context, granted) {
        hasRun = true;
        return workOf(subject, own)(given, context, granted);
      },
    }),
  });
  const outcome = await ask(args, { inHaste: true });
  if (outcome === WAITING || outcome.ok || !hasRun || network.writes.length > 0) return undefined;
  const end = endOf(outcome);
  return UNDECIDED.has(end[0]) ? undefined : end;
}

/** What the tool does first: its own work, or the first step of a saga. */
function workOf({ contract, firstStep }: Subject, own: AuthorCode): Work {
  const planned = contract.saga?.steps[0];
  if (!planned) return (args, ...more) => own.execute?.(args, ...more);
  return (args, ...more) => {
    if (!firstStep) throw new Error(`${planned.tool} is no tool of this deployment`);
    const asked = planned.arguments(args, { of: throwNoResult });
    return revealCode(firstStep).execute?.(v.parse(firstStep.input, asked) as never, ...more);
  };
}

type Work = NonNullable<AuthorCode["execute"]>;

function throwNoResult(): never {
  throw new Error("the first step has no results before it");
}
