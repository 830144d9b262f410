import { existsSync, readFileSync } from "node:fs";
import { parseArgs, parseEnv } from "node:util";
import { experimental_readRawConfig as readRawConfig } from "wrangler";
import { configureModels } from "../../src/compose/models.ts";
import { type Command, parsing, UsageError } from "../command.ts";
import { projectFolder } from "../project/folders.ts";
import { loadDeployment } from "../project/load-deployment.ts";
import { askModels } from "../models/ask-models.ts";
import { checkModels, WARN_DAYS, type CheckedModel } from "../models/check-models.ts";

const USAGE =
  "Usage: interlock models [--ask] [--json] [--env NAME]\n" +
  "Lists the configured models and what their providers say of them.\n" +
  "--ask also sends each model a short message, and tells whether the answer is of its wire.\n" +
  `Exit code 0: nothing to do. 1: a model retires within ${WARN_DAYS} days, is retired, is\n` +
  "unknown to its provider, or is on the wrong wire. 2: the settings are wrong, or a provider\n" +
  "cannot be asked.";

export const command: Command = {
  usage: USAGE,
  run: listModels,
};

async function listModels(args: string[]): Promise<void> {
  const { json, env, ask } = readArguments(args);
  const { models: declared = [], wires } = await loadDeployment(projectFolder());
  const models = configureModels(readSettings(env), { models: declared, wires });
  if (!models.ok) throw new UsageError(models.failure.join("\n"));
  const ports = { fetch: (request: Request) => fetch(request), nowMs: Date.now() };
  const listed = await checkModels(models.value, ports);
  const checked = ask ? await askModels(models.value, listed, ports.fetch) : listed;
  if (json) console.log(JSON.stringify({ models: checked }));
  else for (const model of checked) console.log(formatLine(model));
  process.exitCode = exitCodeOf(checked);
}

function exitCodeOf(models: readonly CheckedModel[]): number {
  if (models.some(({ state }) => state !== "listed" && state !== "unclear")) return 1;
  return models.some(({ state }) => state === "unclear") ? 2 : 0;
}

function formatLine(model: CheckedModel): string {
  const { id, wire, name, offered } = model;
  const what = [wire, ...(name === id ? [] : [name]), ...(offered ? [] : ["fallback only"])];
  return `${id} (${what.join(", ")}): ${formatState(model)}`;
}

function formatState({ state, shutdownDate, daysLeft, reason }: CheckedModel): string {
  switch (state) {
    case "listed":
      return shutdownDate === undefined ? "ok" : `ok, retires on ${shutdownDate}`;
    case "retiring":
      return `WARNING: retires on ${shutdownDate}, in ${daysLeft} days. Choose another model`;
    case "retired":
      return `WARNING: retired on ${shutdownDate}. Choose another model`;
    case "unknown":
      return "WARNING: its provider does not list it";
    case "wrong_wire":
      return `WARNING: ${reason}`;
    case "unclear":
      return `its provider could not be asked: ${reason}`;
  }
}

/** Reads settings as a deployment does: the environment, then `.dev.vars`, then `wrangler.toml`. */
function readSettings(env: string | undefined): Record<string, unknown> {
  const { rawConfig } = readRawConfig({ config: "wrangler.toml" });
  const vars = { ...rawConfig.vars, ...(env === undefined ? {} : rawConfig.env?.[env]?.vars) };
  const file = existsSync(".dev.vars") ? parseEnv(readFileSync(".dev.vars", "utf8")) : {};
  return { ...vars, ...file, ...process.env };
}

function readArguments(args: string[]): {
  readonly json: boolean;
  readonly ask: boolean;
  readonly env: string | undefined;
} {
  const flag = { type: "boolean", default: false } as const;
  const options = { json: flag, ask: flag, env: { type: "string" } } as const;
  const { values } = parsing(() => parseArgs({ args, options }));
  return { json: values.json, ask: values.ask, env: values.env };
}
