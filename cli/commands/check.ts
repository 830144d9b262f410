import { parseArgs } from "node:util";
import { configureModels } from "../../src/compose/models.ts";
import { createDeployment, type Deployment } from "../../src/compose/deployment.ts";
import { registerContracts } from "../../src/contracts/check/register.ts";
import { type Command, CommandError, parsing } from "../command.ts";
import { checkAffordance } from "../environment/check-affordance.ts";
import { checkSecondOrder } from "../environment/check-second-order.ts";
import { checkContracts } from "../environment/check-contracts.ts";
import { checkDocuments } from "../environment/check-documents.ts";
import { checkIsolation } from "../environment/check-isolation.ts";
import { checkMigrations } from "../environment/check-migrations.ts";
import { checkModelList } from "../environment/check-model-list.ts";
import { checkPlaceholders } from "../environment/check-placeholders.ts";
import { checkSettings } from "../environment/check-settings.ts";
import {
  describeEnvironment,
  type EnvironmentConfigs,
  readEnvironmentConfigs,
} from "../environment/environment-config.ts";
import type { Finding } from "../environment/finding.ts";
import { type KnownSecrets, readSecrets } from "../environment/known-secrets.ts";
import { checkModels } from "../models/check-models.ts";
import { checkTools } from "../purity/check-tools.ts";
import { projectFolder } from "../project/folders.ts";
import { loadEntry } from "../project/load-deployment.ts";

export const command: Command = {
  usage:
    "Usage: interlock check [--env NAME] [--secrets FILE] [--ask-providers] [--json]\n" +
    "Says what an environment of wrangler.toml lacks before a deploy: bindings, objects, variables,\n" +
    "secrets, addresses, compiled contracts, their lock, the documents of the folder tenant. It\n" +
    "runs the migrations of the workspaces in memory. It fails on switches for development, and on\n" +
    "a tool that still says what interlock new tool wrote, or reaches past its capabilities.\n" +
    "It needs no network.\n" +
    "--secrets: the secrets that are stored, as printed by npx wrangler secret list --env NAME, or\n" +
    "lines NAME=value. - is the standard input. Without it, the check says which it did not see.\n" +
    "--ask-providers: asks the providers which models retire, with the keys of --secrets or of the\n" +
    "environment's variables.\n" +
    "Exit code 1: an error was found. Warnings, and what was not seen, do not fail.",
  run: checkEnvironment,
};

interface Asked {
  readonly environment: string | undefined;
  readonly secretsFile: string | undefined;
  readonly asksProviders: boolean;
  readonly isJson: boolean;
}

/** Checks one environment of the project in the current folder. */
async function checkEnvironment(args: string[]): Promise<void> {
  const asked = readArguments(args);
  const project = projectFolder();
  const configs = readEnvironmentConfigs(project, asked.environment);
  const secrets = asked.secretsFile === undefined ? undefined : readSecrets(asked.secretsFile);
  const { options, exported, metafile } = await loadEntry(project).catch(refuseContract);
  const deployment = createDeployment(registerAll(options.tools), options);
  const { environment } = asked;
  const { MODELS } = configs.asked.vars;
  const modelList = typeof MODELS === "string" ? MODELS : undefined;
  const findings = [
    ...checkSettings({ environment, configs, deployment, secrets }),
    ...findLostClasses(configs, exported),
    ...checkIsolation(configs),
    ...(await checkContracts(project, options.tools)),
    ...checkModelList(project, modelList, deployment.models),
    ...checkMigrations(deployment.workspaces?.definitions ?? []),
    ...checkPlaceholders(options.tools),
    ...checkAffordance(deployment.contracts),
    ...checkSecondOrder(deployment.contracts),
    ...checkTools(project, metafile),
    ...checkDocuments({
      project,
      deployment,
      modelList,
      nowMs: Date.now(),
    }),
    ...(asked.asksProviders ? await askProviders(configs, secrets, deployment) : []),
  ];
  print(findings, asked);
  if (findings.some(({ level }) => level === "error")) process.exitCode = 1;
}

function registerAll(tools: Parameters<typeof registerContracts>[0]): Deployment["contracts"] {
  try {
    return registerContracts(tools);
  } catch (error) {
    return refuseContract(error);
  }
}

function refuseContract(error: unknown): never {
  if (!(error instanceof Error) || error.name !== "ContractError") throw error;
  throw new CommandError(`contracts: ${error.message}; see docs/tools-authoring.md`);
}

function findLostClasses(
  { asked }: EnvironmentConfigs,
  exported: readonly string[],
): readonly Finding[] {
  return asked.durable_objects.bindings
    .filter(({ script_name, class_name }) => !script_name && !exported.includes(class_name))
    .map(({ name, class_name }) => ({
      level: "error",
      place: "wrangler.toml",
      message: `${name} is bound to the class ${class_name}, which the entry does not export`,
    }));
}

async function askProviders(
  { asked }: EnvironmentConfigs,
  secrets: KnownSecrets | undefined,
  deployment: Deployment,
): Promise<readonly Finding[]> {
  const models = configureModels(
    { ...process.env, ...Object.fromEntries(secrets?.values ?? []), ...asked.vars },
    deployment,
  );
  const place = "models";
  if (!models.ok) {
    return models.failure.map((message) => ({ level: "unseen", place, message }));
  }
  const ports = { fetch: (request: Request) => fetch(request), nowMs: Date.now() };
  const checked = await checkModels(models.value, ports);
  return checked.flatMap(({ id, state, shutdownDate, daysLeft, reason }): Finding[] => {
    switch (state) {
      case "listed":
        return [];
      case "retiring": {
        const message = `${id} retires on ${shutdownDate}, in ${daysLeft} days. Choose another model`;
        return [{ level: "error", place, message }];
      }
      case "retired":
        return [{ level: "error", place, message: `${id} retired on ${shutdownDate}` }];
      case "unknown":
        return [{ level: "error", place, message: `${id}: its provider does not list it` }];
      case "wrong_wire":
        return [{ level: "error", place, message: `${id}: ${reason}` }];
      case "unclear":
        return [
          { level: "unseen", place, message: `${id}: its provider did not answer: ${reason}` },
        ];
    }
  });
}

function print(findings: readonly Finding[], { environment, isJson }: Asked): void {
  if (isJson) return console.log(JSON.stringify({ environment, findings }));
  console.log(describeEnvironment(environment));
  for (const { level, place, message } of findings) {
    console.log(`  ${level.padEnd(7)} ${place}: ${message}`);
  }
  if (findings.some(({ level, place }) => level === "unseen" && place === "secrets")) {
    console.log("  Show the check which secrets are stored: --secrets FILE");
  }
  const countOf = (level: Finding["level"]): number =>
    findings.filter((finding) => finding.level === level).length;
  console.log(
    `check: ${countOf("error")} errors, ${countOf("warning")} warnings, ` +
      `${countOf("unseen")} not seen`,
  );
}

function readArguments(args: string[]): Asked {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const options = { env: text, secrets: text, "ask-providers": flag, json: flag } as const;
  const { values } = parsing(() => parseArgs({ args, options }));
  return {
    environment: values.env,
    secretsFile: values.secrets,
    asksProviders: values["ask-providers"],
    isJson: values.json,
  };
}
