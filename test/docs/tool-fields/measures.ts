import type { Progress } from "../../../src/capabilities/tool.ts";
import { bindTool } from "../../../src/contracts/bind/bind-tool.ts";
import type { ToolCallId } from "../../../src/protocol/identity/ids.ts";
import { ok } from "../../../src/protocol/outcome/result.ts";
import {
  publishContract,
  type PublishedContract,
} from "../../../src/contracts/catalog/published-contract.ts";
import type { RegisteredContract } from "../../../src/contracts/catalog/registered.ts";
import { registerContracts } from "../../../src/contracts/check/register.ts";
import type { ConfirmationPacket } from "../../../src/protocol/approval/packet.ts";
import type { ToolInvocationRecord } from "../../../src/protocol/invocation/record.ts";
import type { ObservationObject } from "../../../src/protocol/outcome/observation.ts";
import type { AiEvent } from "../../../src/protocol/run/event.ts";
import { WAITING } from "../../../src/runner/waiting.ts";
import { fakeEgress, fakeRunCapabilities, fakeScope } from "../../../src/testing/fakes/fakes.ts";
import {
  benchFor,
  contextOf,
  passing,
  type Bench,
} from "../../../src/testing/fakes/runner-ports.ts";
import { TestDesk } from "../../../src/testing/fakes/test-desk.ts";
import { noteTool } from "../../shared/tools.ts";
import { SHOP, UNDO, VERIFIED } from "./plants.ts";

const NOTE = { text: "hi", amount: 7 };

/** What one call of a planted tool leaves behind. */
export interface Seen {
  readonly observation: ObservationObject | undefined;
  /** Class of the outcome; `waits` where a person is asked. */
  readonly end: string;
  readonly requests: readonly Request[];
  readonly record: ToolInvocationRecord | undefined;
  readonly events: readonly AiEvent[];
  readonly packet: ConfirmationPacket | undefined;
  readonly bench: Bench;
}

/** Registers a tool with planted fields. */
export function register(change: object): RegisteredContract {
  const [registered] = registerContracts([noteTool(change).tool, UNDO]);
  if (!registered) throw new Error("nothing is registered");
  return registered;
}

/** Why a tool with planted fields is refused; undefined when it registers. */
export function refusalOf(change: object): string | undefined {
  try {
    register(change);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^Tool "test__note": /, "") : "";
  }
}

export function publish(change: object): Promise<PublishedContract> {
  return publishContract(register(change));
}

/** Calls a tool with planted fields. `policy` adds to the policy of the run. */
export async function call(
  change: object,
  { args = NOTE, policy = {} }: { readonly args?: object; readonly policy?: object } = {},
): Promise<Seen> {
  const requests: Request[] = [];
  const egress = fakeEgress((request) => {
    requests.push(request);
    return Response.json({});
  });
  const { tool } = noteTool(change);
  const names = { allowedTools: [tool.name, UNDO.name], ...policy };
  const approvals = new TestDesk();
  const bench = benchFor([tool, UNDO], { egress, policy: names, approvals });
  const outcome = await passing(bench.ask(tool.name, args), bench.clock);
  const observation = outcome === WAITING ? undefined : outcome.observation;
  return {
    observation,
    end: observation?.status.taxonomy_class ?? "waits",

    requests,
    record: bench.journal.records[0],
    events: bench.journal.events,
    packet: approvals.newest(1)?.packet,
    bench,
  };
}

/** What people are shown of a call with planted fields. */
export async function packetOf(change: object): Promise<ConfirmationPacket> {
  const approvals = [{ tools: ["test__note"], pattern: "operator_review" }];
  const { packet } = await call(change, { policy: { approvals } });
  if (!packet) throw new Error("nobody is asked");
  return packet;
}

const CALL = "call_1" as ToolCallId;

export const end = async (change: object): Promise<string> => (await call(change)).end;
export const told = async (change: object): Promise<unknown> =>
  (await call(change)).record?.end?.details;
export const runs = async (change: object): Promise<unknown> =>
  (await call(change)).record?.dispatches;
export const repeats = async (change: object): Promise<boolean> => Number(await runs(change)) > 1;
export const amounts = async (change: object): Promise<unknown> =>
  (await call(change)).record?.amounts;
export const read = (change: object): string => register(change).spec.description;
export const data = async (change: object): Promise<unknown> =>
  (await call(change)).observation?.result_payload.data;
export const contractOf = async (change: object): Promise<PublishedContract["contract"]> =>
  (await publish(change)).contract;
export const verifies = (change: object): unknown => {
  const [tool] = registerContracts([noteTool({ ...VERIFIED, ...change }).tool]);
  if (!tool) return undefined;
  const bound = bindTool(tool, fakeRunCapabilities());
  return bound.verify?.({}, { reference: "r", state: {} }, contextOf(CALL), fakeScope());
};

export const compensation = async (change: object): Promise<unknown> =>
  (await call(change)).record?.end?.compensation;
export const wayBack = async (change: object): Promise<unknown> =>
  (await packetOf(change)).compensation.note;
export const keyHeaders = async (change: object): Promise<unknown> => {
  const { requests } = await call({ ...SHOP, ...change });
  return ["idempotency-key", "x-key"].filter((name) => requests[0]?.headers.has(name));
};
export const granted = async (change: object): Promise<unknown> => {
  let names: unknown;
  await call({
    execute: (_: unknown, _context: unknown, capabilities: object) => {
      names = Object.keys(capabilities).toSorted();
      return ok({ text: "" });
    },
    ...change,
  });
  return names;
};
export const atOnce = async (change: object): Promise<number> => {
  const running: string[] = [];
  const { bench } = await call({
    ...change,
    execute: ({ text }: { readonly text: string }) =>
      text === "hi" ? ok({ text }) : new Promise(() => void running.push(text)),
  });
  for (const id of ["a", "b"]) void bench.ask("test__note", { text: id }, { step: 9, id });
  // A call that waits for the one before it shows nothing, so the test gives it time to be wrong.
  for (let turn = 0; running.length < 2 && turn < 200; turn += running.length) {
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  return running.length;
};
export const timeout = async (change: object): Promise<string | undefined> =>
  (await call(change)).observation?.result_payload.errors[0]?.message;
export const second = async (change: object): Promise<unknown> => {
  const { bench } = await call(change);
  return (await bench.call("test__note", { text: "b" })).observation.status.taxonomy_class;
};

export const stages = async (change: object): Promise<unknown> => {
  const { events } = await call({
    capabilities: ["progress"],
    execute(_: unknown, _context: unknown, { progress }: { readonly progress: Progress }) {
      progress.report({ stage: "packing", done: 1 });
      return ok({ text: "" });
    },
    ...change,
  });
  return events.flatMap((event) =>
    event.type === "tool_call_progress" ? (event.stage ?? []) : [],
  );
};
