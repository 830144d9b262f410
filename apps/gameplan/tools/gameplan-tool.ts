import {
  defineTool,
  ok,
  type ClosedObjectSchema,
  type ExpectedState,
  type Verification,
  type WorkspaceOperation,
} from "interlock-edge/tools";
import { toolCallResult, type MutationType } from "./entities/tool-call-result.ts";
import { REFUSALS } from "./refuse.ts";
import { callTimed, readerOf, type Read } from "./timed-operation.ts";

type State = Readonly<Record<string, string | number | readonly string[]>>;

/** What a person reads before a call. */
export interface Consent<Args> {
  /** Names the action and its consequence. `before` is empty where `preview` found nothing. */
  readonly describe: (
    args: Args,
    before: { readonly [field: string]: unknown },
  ) => { readonly action: string; readonly consequence: string };
  /** Fields of both states of `preview`. */
  readonly shows: readonly string[];
  /** Reads what the call would change; undefined when it is not there. */
  readonly preview: (
    args: Args,
    read: Read,
  ) => Promise<{ readonly before: State; readonly after: State } | undefined>;
}

/** What a tool of GamePlan adds to its operation. */
export interface GameplanTool<Args, Data> {
  /** For the model. */
  readonly description: string;
  /** For example `gameSystemService` (seeds/003, ToolCallResult). */
  readonly service: string;
  /** Of a write. Default: action. */
  readonly mutationType?: Exclude<MutationType, "read">;
  /** Says in the past tense what the call did. */
  readonly done: (data: Data, args: Args) => string;
  /** Of a write. Default: LOW_RISK_INTERNAL. Of a higher one the operation is tried before. */
  readonly risk?: "MEDIUM_RISK_WRITE" | "CRITICAL_MUTATION";
  readonly consent?: Consent<Args>;
  /** How the state is read again after the call. The fields of the state are those of `consent`. */
  readonly verification?: {
    readonly delaySeconds: number;
    /** `executedAt` is ISO 8601. */
    readonly expect: (args: Args, executedAt: string) => ExpectedState;
    readonly verify: (args: Args, expected: ExpectedState, read: Read) => Promise<Verification>;
  };
  /** The tool that takes the call back, and its arguments. */
  readonly undo?: {
    readonly tool: string;
    readonly args: (data: Data, args: Args) => object;
  };
  /** Of a write that cannot be taken back. Default: idempotent_write. */
  readonly semantics?: "irreversible_pivot";
  /** Only people call it, or Undo does. */
  readonly isHidden?: true;
  readonly maxArgumentsBytes?: number;
  readonly example?: { readonly description: string; readonly arguments: Args };
}

/** Longest result of a tool of GamePlan. Unit: bytes. */
export const MOST_RESULT_BYTES = 262_144;
const USUAL_ARGUMENTS_BYTES = 8_192;

/**
 * Makes the tool of an operation: same name, same arguments, and the operation's result within a
 * ToolCallResult. The operation accepts its own arguments again, with the defaults filled in.
 */
export function gameplanTool<
  Kind extends "read" | "write",
  Taken extends object,
  Args extends Taken,
  Data extends object,
>(
  operation: WorkspaceOperation<Kind, ClosedObjectSchema<Taken, Args>, ClosedObjectSchema<Data>>,
  tool: GameplanTool<Args, Data>,
) {
  const { consent, undo, service, verification } = tool;
  const name = `gameplan__${operation.name}`;
  const isRead = operation.kind === "read";
  const mutationType = isRead ? "read" : (tool.mutationType ?? "action");
  const { input } = operation;
  const output = toolCallResult(input, operation.output);
  return defineTool<typeof input, typeof output, "workspace">({
    name,
    version: "1.0.0",
    description: tool.description,
    input,
    output,
    ...(isRead
      ? { sideEffectClass: "READ_ONLY", effect: "read_only" }
      : { sideEffectClass: tool.risk ?? "LOW_RISK_INTERNAL", effect: "state_change" }),
    redaction: {
      args: Object.keys(input.entries),
      output: Object.keys(output.entries),
      ...(consent && { state: consent.shows }),
    },
    capabilities: ["workspace"],
    workspace: "gameplan",
    shownToModel: tool.isHidden !== true,
    runtime: {
      maxArgumentsBytes: tool.maxArgumentsBytes ?? USUAL_ARGUMENTS_BYTES,
      maxResultBytes: MOST_RESULT_BYTES,
    },
    security: { untrustedOutput: true },
    errors: REFUSALS,
    examples: tool.example ? [tool.example] : [],
    transactional: {
      confirmationRequired: consent !== undefined,
      ...(!isRead && !undo && { semantics: tool.semantics ?? "idempotent_write" }),
      ...(undo && { compensationTool: `gameplan__${undo.tool}` }),
    },
    ...(undo && {
      compensate: (args, output) => undo.args(output.result.data, args),
    }),
    ...(consent && {
      describe: (args, before) => consent.describe(args, { ...before }),
      preview: async (args, _context, { workspace }) =>
        (await consent.preview(args, readerOf(workspace))) ?? { before: null, after: null },
    }),
    ...(verification && {
      verification: {
        delaySeconds: verification.delaySeconds,
        expect: (args, { executedAt }) => verification.expect(args, executedAt),
      },
      // oxlint-disable-next-line max-params -- authors get what they get elsewhere, and the state
      verify: (args, expected, _context, { workspace }) =>
        verification.verify(args, expected, readerOf(workspace)),
    }),
    // Nobody is asked about what the operation itself would refuse, by the tool or by a policy.
    ...((consent ?? tool.risk) && {
      async checkState(args, _context, { workspace }) {
        const rehearsed = await workspace.rehearse(operation, args);
        return rehearsed.ok ? ok(null) : rehearsed;
      },
    }),
    async execute(args, _context, { workspace }) {
      const answer = await callTimed(workspace, operation, args);
      if (!answer.ok) return answer;
      const { data, at } = answer.value;
      return ok({
        toolName: name,
        description: tool.done(data, args),
        apiCall: { service: `${service}.${toCamel(operation.name)}`, payload: args, mutationType },
        result: { success: true, data },
        executedAt: at,
      });
    },
  });
}

/** `create_game_system` is `createGameSystem`. */
function toCamel(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
