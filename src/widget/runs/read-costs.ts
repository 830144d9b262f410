import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json/value.ts";
import { say } from "../texts/say.ts";
import { listOf } from "./list-of.ts";

/** What one day, assistant, model or tool cost, in units of the currency. */
export interface CostLine {
  readonly name: string;
  readonly currency: string;
  readonly amount: number;
}

/** What the runs of some days cost. */
export interface Costs {
  /** The oldest day first. */
  readonly days: readonly CostLine[];
  /** Sums over all days, the largest first. */
  readonly assistants: readonly CostLine[];
  readonly models: readonly CostLine[];
  readonly tools: readonly CostLine[];
}

/** Reads the answer of `GET /v1/usage`. What is of another shape is left out. */
export function readCosts(answer: JsonObject): Costs {
  const days = listOf(answer["days"]).filter(isJsonObject);
  const models = days.flatMap((day) => listOf(day["models"]).filter(isJsonObject));
  const tools = days.flatMap((day) => listOf(day["tools"]).filter(isJsonObject));
  const assistantOf = ({ assistantId = say("direct calls") }: JsonObject): JsonValue => assistantId;
  return {
    days: days.flatMap((day) => linesOf(day, day["day"])).toReversed(),
    assistants: sumLines([...models, ...tools].flatMap((one) => linesOf(one, assistantOf(one)))),
    models: sumLines(models.flatMap((one) => linesOf(one, one["model"]))),
    tools: sumLines(tools.flatMap((one) => linesOf(one, one["toolId"]))),
  };
}

function linesOf({ cost }: JsonObject, name: JsonValue | undefined): readonly CostLine[] {
  if (typeof name !== "string") return [];
  return listOf(cost).flatMap((one) => {
    const { currency, amount } = isJsonObject(one) ? one : {};
    const isMoney = typeof currency === "string" && typeof amount === "number";
    return isMoney ? [{ name, currency, amount }] : [];
  });
}

function sumLines(lines: readonly CostLine[]): readonly CostLine[] {
  const groups = Map.groupBy(lines, ({ name, currency }) => JSON.stringify([name, currency]));
  const sums = [...groups.values()].flatMap(([first, ...others]) => {
    if (!first) return [];
    const sum = others.reduce((so, { amount }) => so + amount, first.amount);
    return [{ ...first, amount: roundToMillionths(sum) }];
  });
  return sums.toSorted((a, b) => b.amount - a.amount);
}

/** The API counts in millionths, which binary fractions do not add up exactly. */
function roundToMillionths(amount: number): number {
  return Math.round(amount * 1_000_000) / 1_000_000;
}
