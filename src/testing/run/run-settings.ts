import type { ContextHook } from "../../capabilities/context.ts";
import type { Model } from "../../capabilities/model.ts";
import type { ToolHook } from "../../capabilities/hook.ts";
import type { AnyToolContract } from "../../contracts/define/definition.ts";
import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import type { Principal } from "../../protocol/identity/principal.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { FakeService, Exchange } from "../tool/fake-service.ts";
import type { TestConnections } from "../memory/memory-connections.ts";
import type { TestWorkspace } from "../workspace/test-workspace.ts";

/** What surrounds the calls of a test. Everything may be left out. */
export interface Surroundings {
  /**
   * A policy document, as in a policy file. Default: every tool is allowed and needs no approval
   * but that of its contract.
   */
  readonly policy?: unknown;
  /** The caller, see `person`. Default: ann, with every scope that the tools require. */
  readonly principal?: Principal;
  /** The start of the clock. Default: 2026-01-02, 03:04:05 UTC. */
  readonly now?: string | number | Date;
  /** Stored connections by id. The run names all of them. */
  readonly connections?: TestConnections;
  /** The services that tools reach: exchanges, or a function. Default: none. */
  readonly http?: FakeService | readonly Exchange[];
  /**
   * The workspaces that the tools reach, each opened with `testWorkspace`. Without a `policy` the
   * caller is a member of them. Default: none.
   */
  readonly workspaces?: readonly TestWorkspace[];
  /** The workspace of the run. Default: the one of which the caller is a member. */
  readonly workspaceId?: string;
  /** Hooks of the deployment. */
  readonly hooks?: readonly ToolHook[];
}

/** A run of a test. */
export interface RunSettings extends Surroundings {
  readonly tools: readonly AnyToolContract[];
  readonly model: Model;
  /** The conversation so far. A text is one message of the user. Default: "Hello." */
  readonly messages?: string | readonly TranscriptMessage[];
  /** An assistant document, as in an assistant file. Default: no instructions, every tool. */
  readonly assistant?: unknown;
  /** The deployment's context hook. */
  readonly context?: ContextHook;
  /** The context that the client sends. */
  readonly requestContext?: JsonObject;
}
