import type { RunId } from "../../protocol/identity/ids.ts";
import { FakeClock } from "../time/fake-clock.ts";
import { issueTicket } from "../../contracts/bind/dispatch-ticket.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import { createHttpEgress } from "../../adapters/egress/http-egress.ts";
import type { Egress } from "../../capabilities/http.ts";
import type {
  BoundToolRuntime,
  AttemptScope,
  BoundTools,
  RunCapabilities,
  ToolSourcePort,
} from "../../capabilities/tool.ts";
import { routeVersions } from "../../contracts/catalog/route-versions.ts";
import { parseToolPolicy, type ToolPolicy } from "../../protocol/policy/document.ts";
import type { ToolSpec } from "../../protocol/tool/spec.ts";

/** Addresses of the upstreams that contracts in tests name. */
const FAKE_ADDRESSES: ReadonlyMap<string, string> = new Map([
  ["desk", "https://desk.example.com/api"],
]);

/**
 * The product's egress with a fake service instead of the network. Without a service, requests
 * fail.
 */
export function fakeEgress(
  answer: (request: Request) => Response | Promise<Response> = () => {
    throw new Error("there is no network");
  },
): Egress {
  return createHttpEgress({
    clock: new FakeClock(),
    fetch: async (request) => answer(request),
    addresses: FAKE_ADDRESSES,
  });
}

/** Capabilities of a run without a network. */
export function fakeRunCapabilities(titles: string[] = []): RunCapabilities {
  return {
    clock: new FakeClock(),
    runTitle: { set: (title) => void titles.push(title) },
    egress: fakeEgress(),
  };
}

/** The scope of an invocation that does not end. */
export function fakeScope(): AttemptScope {
  return {
    signal: new AbortController().signal,
    idempotencyKey: "key",
    timeoutMs: 1_000,
    conversationId: "run_1" as RunId,
    noteWrite: () => {},
    rowSources: { list: () => [], hasRead: () => false, note: () => {} },
    progress: { report: () => {} },
    mask: (value) => value,
  };
}

/** Builds a policy from a document, with defaults for the rest. */
export function policyOf(document: object): ToolPolicy {
  const policy = parseToolPolicy(document);
  if (!policy) throw new Error(`no policy: ${JSON.stringify(document)}`);
  return policy;
}

/** A source that gives these tools at once. */
export function sourceOf(tools: BoundTools): ToolSourcePort {
  return { load: () => Promise.resolve(tools) };
}

/** A source without tools. */
export const NO_TOOLS = sourceOf({ getBoundTool: () => undefined, listToolSpecs: () => [] });

/** The newest version of every tool. */
export function newestOf(tools: BoundTools): ReadonlyMap<string, ToolSpec> {
  return routeVersions(tools.listToolSpecs(), policyOf({ allowedTools: [] }), { nowMs: 0 });
}

/** Runs a bound tool on validated arguments, without the runner and the gates. */
export function runBound(
  tool: BoundToolRuntime,
  args: JsonObject,
  scope: AttemptScope = fakeScope(),
): ReturnType<BoundToolRuntime["performDispatched"]> {
  const { id: toolId, version } = tool;
  return tool.performDispatched(
    issueTicket({ toolId, version, args, context: {} as never, scope }),
  );
}
