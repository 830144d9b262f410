import { createHttpModel } from "../adapters/model/http-model.ts";
import { createModelRouter } from "../adapters/model/model-router.ts";
import { sendRequest } from "../adapters/platform/system.ts";
import { createTenantModels, type TenantModelPorts } from "../adapters/model/tenant-models.ts";
import type { InputBound, Model, ModelDirectory } from "../capabilities/model.ts";
import type { Clock } from "../capabilities/system.ts";
import { readProviders, type ProviderSettings, type RawEnv } from "../env.ts";
import { createModelCatalog, type ModelCatalog } from "../protocol/model/catalog.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import { isTenantModel } from "../protocol/provider/tenant-model.ts";
import type { Deployment } from "./deployment.ts";
import { createInputBound, createWidestInputBound } from "../wire/model/input-bound.ts";
import type { ModelWire } from "../wire/model/model-wire.ts";

/** The models of a deployment with the settings of their providers. */
export interface ConfiguredModels extends ModelCatalog {
  readonly wires: readonly ModelWire[];
  /** By the id of the model. */
  readonly providers: ReadonlyMap<string, ProviderSettings>;
}

/**
 * Checks the declared and the listed models, and reads the settings of their providers.
 * Contract: pure. Fails: one sentence for each problem, for the operator; never a value.
 */
export function configureModels(
  raw: RawEnv,
  { models: declared, wires: { models: wires } }: Pick<Deployment, "models" | "wires">,
): Result<ConfiguredModels, readonly string[]> {
  const { MODELS: list } = raw;
  const catalog = createModelCatalog(declared, typeof list === "string" ? list : undefined);
  if (!catalog.ok) return catalog;
  const used = [...catalog.value.models.values()];
  const named = new Set(wires.map(({ id }) => id));
  const unbundled = used.filter(({ wire }) => !named.has(wire));
  const providers = readProviders(raw, used);
  const problems = [
    ...unbundled.map(({ id, wire }) => `The model ${id} is on the wire ${wire}, which is left out`),
    ...(providers.ok ? [] : providers.failure),
  ];
  if (!providers.ok || problems.length > 0) return fail(problems);
  return ok({ ...catalog.value, wires, providers: providers.value });
}

/** Bindings and declarations do not change while an isolate lives, and every run needs them. */
const configured = new WeakMap<RawEnv, ConfiguredModels>();

/** Configures the models for a run. Fails: throws on models that the Worker refuses too. */
export function requireModels(
  raw: RawEnv,
  deployment: Pick<Deployment, "models" | "wires">,
): ConfiguredModels {
  const known = configured.get(raw);
  if (known) return known;
  const models = configureModels(raw, deployment);
  if (!models.ok) throw new Error(`misconfigured: ${models.failure.join("; ")}`);
  configured.set(raw, models.value);
  return models.value;
}

/** What a run needs of one model of the deployment. */
interface DeployedModel {
  readonly model: Model;
  readonly inputBound: ReturnType<typeof createInputBound>;
}

/** Models that runs of this isolate asked. They hold nothing of a run, so all runs share them. */
const askedModels = new WeakMap<ConfiguredModels, Map<string, DeployedModel>>();

/** Assembles the models of a deployment and of one tenant, and what bounds their input. */
export function composeModels(
  configuredModels: ConfiguredModels,
  clock: Clock,
  tenant: Pick<TenantModelPorts, "broker" | "tenantId">,
): { readonly model: Model; readonly modelOf: ModelDirectory; readonly inputBound: InputBound } {
  const { models, wires, providers } = configuredModels;
  const asked = askedModels.get(configuredModels) ?? new Map<string, DeployedModel>();
  askedModels.set(configuredModels, asked);
  const deployed = (id: string): DeployedModel | undefined => {
    const known = asked.get(id);
    if (known) return known;
    const [model, provider] = [models.get(id), providers.get(id)];
    const wire = wires.find((one) => one.id === model?.wire);
    if (!model || !wire || !provider) return undefined;
    const options = { model, wire, ...provider, clock, fetch: sendRequest };
    const composed = {
      model: createHttpModel(options),
      inputBound: createInputBound(wire, model.can),
    };
    asked.set(id, composed);
    return composed;
  };
  const own = createTenantModels({ ...tenant, wires, clock, fetch: sendRequest });
  const ownBound = new Map<string, ReturnType<typeof createWidestInputBound>>();
  return {
    model: createModelRouter({ deployed: (id) => deployed(id)?.model, own }),
    modelOf: (id) => models.get(id),
    // A model that is not listed is not asked, so nothing is sent.
    inputBound: (request) => {
      const { model: id, can } = request;
      if (!isTenantModel(id)) return deployed(id)?.inputBound(request) ?? 0;
      const widest = ownBound.get(id) ?? createWidestInputBound(wires, can);
      ownBound.set(id, widest);
      return widest(request);
    },
  };
}
