import { randomBytes } from "node:crypto";
import { configureDeployment } from "../../src/compose/configure.ts";
import type { Deployment } from "../../src/compose/deployment.ts";
import { WORKSPACES } from "../../src/env.ts";
import {
  describeEnvironment,
  type EnvironmentConfig,
  type EnvironmentConfigs,
} from "./environment-config.ts";
import type { Finding } from "./finding.ts";
import type { KnownSecrets } from "./known-secrets.ts";

/** Secrets beside the keys of providers, whose names end in `_API_KEY`. */
const ALWAYS_NEEDED = ["RUN_ID_SECRET", "CONNECTION_KEYS"];
const SECRETS = new Set([...ALWAYS_NEEDED, "RUN_ID_SECRET_OLD", "API_TOKENS", "JWT_SECRET"]);
/** Fit the form that the deployment expects, where only the name of a secret is known. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  CONNECTION_KEYS: JSON.stringify([{ id: "1", key: randomBytes(32).toString("base64") }]),
  API_TOKENS: JSON.stringify([
    { sha256: "0".repeat(64), tenantId: "t", actorId: "user:a", scopes: ["chat"] },
  ]),
};
const PLACEHOLDER = "0".repeat(64);
/** Admits callers without a token. */
const DEVELOPER = "DEVELOPER";
const LOOPBACK = /\bhttps?:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)/i;
const PLAIN_HTTP = /\bhttp:\/\//i;
/** Names that are reserved for examples (RFC 2606). */
const EXAMPLE = /\bhttps?:\/\/(?:[^/?#\s"]*[.@])?example\.(?:com|net|org)\.?(?![\w.-])/i;
const MISSING = /^([A-Z][A-Z0-9_]*) is missing$/;
const MISSING_BINDING = /^binding ([A-Z][A-Z0-9_]*) is missing$/;

/** What the settings of an environment are checked against. */
export interface SettingsRequest {
  readonly environment: string | undefined;
  readonly configs: EnvironmentConfigs;
  readonly deployment: Deployment;
  /** Undefined: nobody told which secrets the environment has. */
  readonly secrets: KnownSecrets | undefined;
}

/**
 * Checks variables, secrets and bindings by the rules of the deployment itself, and finds settings
 * that are for development only.
 * Contract: no I/O; names settings, never values.
 */
export function checkSettings(request: SettingsRequest): readonly Finding[] {
  const { asked } = request.configs;
  return [
    ...checkConfiguration(request),
    ...findDevelopment(asked, request.secrets),
    ...findPlainSecrets(asked),
    ...findUndeclaredSecrets(request),
  ];
}

function checkConfiguration(request: SettingsRequest): readonly Finding[] {
  const { environment, configs, deployment, secrets } = request;
  const raw = toBindings(configs.asked, secrets);
  const findings: Finding[] = [];
  const told = new Set<string>();
  // A secret that nobody told of is assumed, so that what depends on it is checked too.
  for (;;) {
    const checked = configureDeployment(raw, deployment);
    const fresh = (checked.ok ? [] : checked.failure).filter((problem) => !told.has(problem));
    if (fresh.length === 0) return [...findings, ...findLostObjects(configs.asked)];
    for (const problem of fresh) {
      told.add(problem);
      const name = MISSING.exec(problem)?.[1];
      if (name !== undefined && isSecretName(name)) {
        findings.push(describeSecret(name, environment, secrets));
        raw[name] = PLACEHOLDERS[name] ?? PLACEHOLDER;
      } else findings.push(describeProblem(problem, request));
    }
  }
}

/** Stands for the bindings that the platform would make of an environment. */
function toBindings(config: EnvironmentConfig, secrets?: KnownSecrets): Record<string, unknown> {
  const bound: Record<string, unknown> = {};
  for (const { binding } of config.kv_namespaces) bound[binding] = { get: true };
  for (const { name } of config.durable_objects.bindings) bound[name] = { idFromName: true };
  if (config.assets?.binding !== undefined) bound[config.assets.binding] = { fetch: true };
  for (const [name, value] of secrets?.values ?? [])
    bound[name] = value ?? PLACEHOLDERS[name] ?? PLACEHOLDER;
  Object.assign(bound, config.vars);
  // It would relax the other checks, and findDevelopment reports it.
  delete bound[DEVELOPER];
  return bound;
}

function describeSecret(
  name: string,
  environment: string | undefined,
  secrets: KnownSecrets | undefined,
): Finding {
  const flag = environment === undefined ? "" : ` --env ${environment}`;
  const alternative = name === "API_TOKENS" ? ", or set the variable AUTH" : "";
  if (secrets) {
    const message = `${name} is missing. Store it: npx wrangler secret put ${name}${flag}${alternative}`;
    return { level: "error", place: secrets.placeOf(name), message };
  }
  const message = `${name} is needed${alternative}`;
  return { level: "unseen", place: "secrets", message };
}

/** Says of a binding that only another environment has, that it is not inherited. */
function describeProblem(
  problem: string,
  { environment, configs: { asked, others }, secrets }: SettingsRequest,
): Finding {
  const name = MISSING_BINDING.exec(problem)?.[1] ?? MISSING.exec(problem)?.[1];
  const top = others.get(undefined);
  const isAbove = name !== undefined && top !== undefined && Object.hasOwn(toBindings(top), name);
  const inherited = isAbove
    ? `. ${describeEnvironment(environment)} does not inherit it from the top level: repeat it there`
    : "";
  const written = name === WORKSPACES ? ". npx interlock new workspace NAME writes it" : "";
  const hint = inherited + written;
  // A variable replaces the secret of its name.
  const [setting = ""] = /^[A-Z][A-Z0-9_]*/.exec(problem) ?? [];
  const isSecret = secrets?.values.has(setting) === true && !(setting in asked.vars);
  const place = isSecret ? secrets.placeOf(setting) : "wrangler.toml";
  return { level: "error", place, message: `${problem}${hint}` };
}

/** An object needs a class with SQLite storage, which wrangler must be told of. */
function findLostObjects(config: EnvironmentConfig): readonly Finding[] {
  const migrated = config.migrations?.flatMap(({ new_sqlite_classes: names = [] }) => names) ?? [];
  return config.durable_objects.bindings
    .filter(({ script_name }) => script_name === undefined)
    .filter(({ class_name }) => {
      const { type, storage } = config.exports?.[class_name] ?? {};
      const isExported = type === "durable-object" && storage === "sqlite";
      return !isExported && !migrated.includes(class_name);
    })
    .map(({ class_name }) => ({
      level: "error",
      place: "wrangler.toml",
      message: `${class_name} has no storage. Add [exports.${class_name}] with storage = "sqlite"`,
    }));
}

/** Finds settings that are for development, or were never adapted. */
function findDevelopment(
  { vars }: EnvironmentConfig,
  secrets: KnownSecrets | undefined,
): readonly Finding[] {
  const settings = [...Object.entries(vars), ...(secrets?.values ?? [])];
  return settings.flatMap(([name, value]): Finding[] => {
    const place = name in vars ? "wrangler.toml" : (secrets?.placeOf(name) ?? "secrets");
    if (name === DEVELOPER) {
      const message = `${name} is set: every caller would be admitted without a token. Remove it`;
      return [{ level: "error", place, message }];
    }
    const text = typeof value === "string" ? value : JSON.stringify(value ?? "");
    if (LOOPBACK.test(text)) {
      const message = `${name} holds an address of this machine, which a deployment cannot reach`;
      return [{ level: "error", place, message }];
    }
    if (PLAIN_HTTP.test(text)) {
      return [
        { level: "error", place, message: `${name} holds an address without TLS. Use https` },
      ];
    }
    if (!EXAMPLE.test(text)) return [];
    const message = `${name} holds an address of an example. Set the address of your service`;
    return [{ level: "warning", place, message }];
  });
}

/** Threat: a secret in a committed file. */
function findPlainSecrets({ vars }: EnvironmentConfig): readonly Finding[] {
  return Object.keys(vars)
    .filter(isSecretName)
    .map((name) => ({
      level: "error",
      place: "wrangler.toml",
      message: `${name} is a variable that everybody can read. Make it a secret`,
    }));
}

/** What wrangler does not know as required, it does not miss when it deploys. */
function findUndeclaredSecrets({ environment, configs }: SettingsRequest): readonly Finding[] {
  const { required = [] } = configs.asked.secrets ?? {};
  const missing = ALWAYS_NEEDED.filter((name) => !required.includes(name));
  if (missing.length === 0) return [];
  const table = environment === undefined ? "[secrets]" : `[env.${environment}.secrets]`;
  const message = `${table} required does not list ${missing.join(", ")}: wrangler would deploy without`;
  return [{ level: "warning", place: "wrangler.toml", message }];
}

function isSecretName(name: string): boolean {
  return SECRETS.has(name) || name.endsWith("_API_KEY");
}
