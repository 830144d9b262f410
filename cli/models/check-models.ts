import type { ConfiguredModels } from "../../src/compose/models.ts";
import type { DeployedModel } from "../../src/protocol/model/declaration.ts";
import { anthropicWire } from "../../src/wire/anthropic/wire.ts";
import type { ModelWire } from "../../src/wire/model/model-wire.ts";
import { openAIWire } from "../../src/wire/openai/wire.ts";
import { responsesWire } from "../../src/wire/responses/wire.ts";
import { listModels, type ListedModels } from "./list-models.ts";

/** How long before a retirement the check warns. */
export const WARN_DAYS = 60;
const DAY_MS = 86_400_000;

/**
 * What a provider says of a model. `unknown`: it does not list the model. `unclear`: it could not
 * be asked. `wrong_wire`: it answers in the format of another wire.
 */
export type ModelState = "listed" | "retiring" | "retired" | "unknown" | "unclear" | "wrong_wire";

/** One line of the report. It holds nothing secret. */
export interface CheckedModel {
  readonly id: string;
  readonly wire: string;
  readonly name: string;
  /** Requests may name it; otherwise it is only a fallback. */
  readonly offered: boolean;
  readonly state: ModelState;
  /** `YYYY-MM-DD`; present when the provider announced one. */
  readonly shutdownDate?: string;
  /** Present with `shutdownDate`; negative when the date has passed. */
  readonly daysLeft?: number;
  /** Present when the state is `unclear` or `wrong_wire`. */
  readonly reason?: string;
}

const WIRES: readonly ModelWire[] = [openAIWire, responsesWire, anthropicWire];

/** What the check needs of the world. */
export interface CheckPorts {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly nowMs: number;
}

/** Asks every provider once, all at the same time, and reports each model. Never throws. */
export async function checkModels(
  { offered, models, providers }: ConfiguredModels,
  ports: CheckPorts,
): Promise<readonly CheckedModel[]> {
  const asked = new Map<string, Promise<ListedModels>>();
  const checks = [...models.values()].map(async (model) => {
    const provider = providers.get(model.id);
    const wire = WIRES.find(({ id }) => id === model.wire);
    if (!provider || !wire) throw new Error(`the model ${model.id} is not configured`);
    const key = JSON.stringify([provider, wire.headers("")]);
    const list = asked.get(key) ?? listModels(provider, wire, ports.fetch);
    asked.set(key, list);
    const { id, name } = model;
    const facts = { id, wire: wire.id, name, offered: offered.includes(model) };
    return Object.assign(facts, describe(model, await list, ports.nowMs));
  });
  return Promise.all(checks);
}

function describe(
  { name }: DeployedModel,
  list: ListedModels,
  nowMs: number,
): Pick<CheckedModel, "state" | "shutdownDate" | "daysLeft" | "reason"> {
  if (!list.ok) return { state: "unclear", reason: list.failure };
  const found = list.value.get(name);
  if (!found) return { state: "unknown" };
  const { shutdownDate } = found;
  if (shutdownDate === undefined) return { state: "listed" };
  const daysLeft = Math.floor((Date.parse(shutdownDate) - nowMs) / DAY_MS);
  const near = daysLeft < WARN_DAYS ? "retiring" : "listed";
  return { state: daysLeft < 0 ? "retired" : near, shutdownDate, daysLeft };
}
