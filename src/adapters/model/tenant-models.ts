import type { Clock } from "../../capabilities/system.ts";
import type { Model, ModelRequest } from "../../capabilities/model.ts";
import type { ProviderBroker } from "../../capabilities/provider.ts";
import type { ModelEvent, ModelFailure } from "../../protocol/model/event.ts";
import type { TenantId } from "../../protocol/identity/ids.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { parseTenantModel } from "../../protocol/provider/tenant-model.ts";
import { declareTenantModel } from "../../protocol/provider/tenant-provider.ts";
import type { ModelWire } from "../../wire/model/model-wire.ts";
import { createHttpModel, type HttpModelOptions } from "./http-model.ts";
import type { Fetch } from "../egress/http-exchange.ts";
import { refuseCall } from "./refused-call.ts";

export interface TenantModelPorts {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly broker: ProviderBroker;
  readonly tenantId: TenantId;
  /** The wires of the deployment. */
  readonly wires: readonly ModelWire[];
}

/**
 * Builds a Model that asks the providers of one tenant. Each call opens the provider anew, so a new
 * key, a narrower list of models and a deletion hold for runs that go on.
 * Contract: that of Model. It knows no key and no address of the deployment.
 * Fails: provider_missing, provider_unreadable, upstream_not_configured when the deployment dropped
 * the wire, and what `createHttpModel` fails with.
 */
export function createTenantModels(ports: TenantModelPorts): Model {
  return { stream: (request, signal) => streamAnswer(ports, request, signal) };
}

async function* streamAnswer(
  ports: TenantModelPorts,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelEvent[], void, undefined> {
  const opened = await openModel(ports, request.model);
  if (!opened.ok) return yield* refuseCall(opened.failure);
  yield* createHttpModel(opened.value).stream(request, signal);
}

async function openModel(
  { broker, tenantId, wires, fetch, clock }: TenantModelPorts,
  id: string,
): Promise<Result<HttpModelOptions, ModelFailure>> {
  const asked = parseTenantModel(id);
  if (!asked) return MISSING;
  const opened = await broker.open(tenantId, asked.providerId);
  if (!opened.ok) return opened.failure.code === "unknown_provider" ? MISSING : UNREADABLE;
  const { baseUrl, apiKey } = opened.value;
  const model = declareTenantModel(opened.value, asked);
  if (!model) return MISSING;
  const wire = wires.find((bundled) => bundled.id === model.wire);
  return wire ? ok({ model, wire, baseUrl, apiKey, fetch, clock }) : NO_WIRE;
}

const MISSING = fail({
  code: "provider_missing",
  detail: "the tenant has no such provider or model",
} as const);
const UNREADABLE = fail({
  code: "provider_unreadable",
  detail: "the stored provider does not open",
} as const);
const NO_WIRE = fail({
  code: "upstream_not_configured",
  detail: "the wire is not bundled",
} as const);
