import { PolicyCache } from "../adapters/policy/policy-cache.ts";
import type { ContextHook } from "../capabilities/context.ts";
import type { ToolHook } from "../capabilities/hook.ts";
import type { Egress } from "../capabilities/http.ts";
import type { Model } from "../capabilities/model.ts";
import type { Clock } from "../capabilities/system.ts";
import type { ContractSource } from "../contracts/bind/tool-source.ts";
import type { RegisteredContract } from "../contracts/catalog/registered.ts";
import type { ClientTools } from "../http/clients/client-tools.ts";
import type { Clients } from "../http/clients/client.ts";
import type { Metrics } from "../http/metrics/open-metrics.ts";
import type { Page } from "../http/pages/pages.ts";
import type { Routes } from "../http/request/authorise.ts";
import type { answerReplay } from "../loop/replay/answer.ts";
import type { AssistantInput } from "../protocol/assistant/document.ts";
import type { ModelDeclaration } from "../protocol/model/declaration.ts";
import type { AiEvent } from "../protocol/run/event.ts";
import type { RunClaim } from "../protocol/run/claim.ts";
import type { RawEnv, UpstreamSettings } from "../env.ts";
import type { Run } from "../run/run.ts";
import type { WorkspaceParts } from "./workspaces.ts";
import type { ModelWire } from "../wire/model/model-wire.ts";

/** What a deployment chooses besides its tools. What it does not name is not in its bundle. */
export interface DeploymentChoices {
  readonly wires: {
    /** The formats of model providers. A model on another wire is refused. */
    readonly models: readonly ModelWire[];
    /** The formats that clients may ask for; the first is the default. */
    readonly clients: Clients;
    /** Lets clients declare tools of their own: `openAIClientTools`. Absent: they may not. */
    readonly clientTools?: ClientTools;
  };
  /** Models that are declared in code. The setting `MODELS` may list more. */
  readonly models?: readonly ModelDeclaration[];
  /**
   * Assistants by their id, for tenants that store none under that id. Without a `default`, it has
   * no instructions and every tool of the policy.
   */
  readonly assistants?: Readonly<Record<string, AssistantInput>>;
  /** Every tool call passes these hooks in this order; see docs/gates.md. */
  readonly hooks?: readonly ToolHook[];
  /** Gives the context of each run; see docs/assistants.md. */
  readonly context?: ContextHook;
  /** For each upstream the setting that holds its address: `{ desk: "DESK_URL" }`. */
  readonly upstreams?: UpstreamSettings;
  /** What `hostWorkspaces` answers; see docs/business-data.md. Absent: none. */
  readonly workspaces?: HostedWorkspaces;
  /** Counts what runs do, and serves the counts: `openMetrics`. Absent: nothing is counted. */
  readonly metrics?: Metrics;
  /** Lets operators decide a finished run again: `replayRuns`. Absent: nobody can. */
  readonly replay?: RunReplay;
  /** Tells runs as spans to a collector of OpenTelemetry: `otlpTraces`. Absent: nothing is told. */
  readonly traces?: RunTraces;
  /** The pages that the Worker serves. Absent: none. */
  readonly pages?: readonly Page[];
}

/** Decides finished runs again, with tools forbidden. */
export interface RunReplay {
  /** The runtime's own. */
  readonly parts: unknown;
}

/** What `replayRuns` holds. */
export interface ReplayParts {
  readonly answer: typeof answerReplay;
  readonly routes: Routes;
}

/** Tells runs as spans. */
export interface RunTraces {
  /** The runtime's own. */
  readonly parts: unknown;
}

/** What `otlpTraces` holds. */
export interface TraceParts {
  /** One sentence for each setting that is missing or not valid; never a value. */
  readonly problemsOf: (raw: RawEnv) => readonly string[];
  /** Reads the trace that a request belongs to. */
  readonly readTrace: (headers: Headers) => string | undefined;
  /** Names the trace of a run in what the run asks of its model and of upstreams. */
  readonly follow: (run: FollowedRun, ways: WaysOut) => WaysOut;
  /**
   * Sends the spans of an ended run, or plans when to send them again. Contract: never throws; the
   * spans of one run are always the same.
   */
  readonly send: (run: Run, ports: SendingPorts) => Promise<void>;
  /** Plans to send the spans of an ended run, unless that was tried since its object started. */
  readonly plan: (run: Run, ports: Pick<SendingPorts, "clock" | "deadlines">) => void;
}

/** A run whose requests name its trace. */
export interface FollowedRun {
  readonly claim: RunClaim;
  /** The journal of `Run`. */
  readonly journal: {
    /** Number of the current step; 0 before the first. */
    readonly steps: number;
    /** Calls the observer for each later event. Contract: one observer. */
    observe(observer: (event: AiEvent) => void): void;
  };
}

/** How a run reaches other services. */
export interface WaysOut {
  readonly model: Model;
  readonly egress: Egress;
}

export interface SendingPorts {
  readonly env: RawEnv;
  readonly deployment: Deployment;
  readonly clock: Clock;
  /** When the spans are sent again. */
  readonly deadlines: {
    has(name: "traces"): boolean;
    set(name: "traces", atMs: number): void;
    clear(name: "traces"): void;
  };
}

/** What `hostWorkspaces` answers. */
export interface HostedWorkspaces {
  /** The runtime's own. */
  readonly parts: unknown;
}

/** What the Worker and the runs in the same isolate share. */
export interface Deployment extends Readonly<
  Required<Omit<DeploymentChoices, "context" | "workspaces" | "metrics" | "replay" | "traces">>
> {
  /** The deployment's own contracts. Runs and routes read them through `source`. */
  readonly contracts: readonly RegisteredContract[];
  readonly source: ContractSource;
  readonly context: ContextHook | undefined;
  readonly workspaces: WorkspaceParts | undefined;
  readonly metrics: Metrics | undefined;
  readonly replay: ReplayParts | undefined;
  readonly traces: TraceParts | undefined;
  readonly policyCache: PolicyCache;
}

/** Assembles a deployment with an empty policy cache; an isolate needs one. */
export function createDeployment(
  contracts: readonly RegisteredContract[],
  choices: DeploymentChoices,
): Deployment {
  const { wires, models = [], assistants = {}, hooks = [] } = choices;
  const { context, upstreams = {}, pages = [], workspaces, metrics, replay, traces } = choices;
  const policyCache = new PolicyCache();
  return {
    contracts,
    source: { load: () => Promise.resolve(contracts) },
    wires,
    models,
    assistants,
    hooks,
    context,
    upstreams,
    pages,
    workspaces: workspaces?.parts as WorkspaceParts | undefined,
    metrics,
    replay: replay?.parts as ReplayParts | undefined,
    traces: traces?.parts as TraceParts | undefined,
    policyCache,
  };
}
