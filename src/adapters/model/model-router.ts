import type { Model } from "../../capabilities/model.ts";
import { isTenantModel } from "../../protocol/provider/tenant-model.ts";
import { refuseCall } from "./refused-call.ts";

export interface RoutedModels {
  /** Answers the model of the deployment with an id; undefined when it has none. */
  readonly deployed: (id: string) => Model | undefined;
  /** Asks the tenant's own providers. */
  readonly own: Model;
}

/**
 * Builds a Model that hands each call to the model that the request names. A call for a tenant's
 * own provider never reaches a model of the deployment.
 * Contract: that of Model. Fails: upstream_not_configured, when the deployment dropped the model
 * after the run began.
 */
export function createModelRouter({ deployed, own }: RoutedModels): Model {
  return {
    stream(request, signal) {
      const model = isTenantModel(request.model) ? own : deployed(request.model);
      return (
        model?.stream(request, signal) ??
        refuseCall({
          code: "upstream_not_configured",
          detail: "the deployment no longer lists the model",
        })
      );
    },
  };
}
