import { parseApiTokens, parsePrincipal, type ApiToken } from "./protocol/identity/api-token.ts";
import { parseConnectionKeys, type ConnectionKeys } from "./protocol/connection/keys.ts";
import { readJwtSettings, type JwtSettings } from "./protocol/identity/jwt-settings.ts";
import type { Principal } from "./protocol/identity/principal.ts";
import { fail, ok, type Result } from "./protocol/outcome/result.ts";

/** Bindings as the platform hands them over: any of them may be missing. */
export type RawEnv = { readonly [binding: string]: unknown };

/** Bindings that were checked. Secrets stay in here and in the adapters that need them. */
export interface Env {
  readonly policyKv: KVNamespace;
  readonly connectionsKv: KVNamespace;
  readonly idempotencyKv: KVNamespace;
  readonly assets: Fetcher;
  readonly runs: DurableObjectNamespace;
  readonly tenants: DurableObjectNamespace;
  readonly openai: OpenAISettings;
  readonly lifetimes: Lifetimes;
  /** RUN_ID_SECRET: every key that is not stored is derived from it; see adapters/derive-key.ts. */
  readonly rootSecret: string;
  readonly connectionKeys: ConnectionKeys;
  readonly apiTokens: readonly ApiToken[];
  /** Whose tokens are taken beside them. */
  readonly jwt?: JwtSettings;
  /** Absent means no limit. */
  readonly callerLimit?: RateLimit;
  readonly addressLimit?: RateLimit;
  /** Set by `npm run dev` alone. */
  readonly developmentPrincipal?: Principal;
}

export interface OpenAISettings {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The first is the default. */
  readonly models: readonly [string, ...string[]];
}

/** How long things last. */
export interface Lifetimes {
  /** A finished run keeps its events and its evidence. */
  readonly runMs: number;
  /** An `Idempotency-Key` is known; from when the run ended. */
  readonly keyMs: number;
  /** An operator may tell what became of a call. */
  readonly outcomeMs: number;
}

const DAY_SECONDS = 86_400;

/** What is wrong with the configuration: names of bindings and why, never their values. */
export interface EnvFailure {
  readonly problems: readonly string[];
}

const MIN_SECRET_CHARS = 32;
/** At most 31 years: later than a date can be, no alarm is set. */
const WHOLE_SECONDS = /^[1-9]\d{0,8}$/;

/**
 * Checks every binding before anything uses one.
 * Contract: pure; names each missing or unusable binding, all of them at once.
 */
export function checkEnv(raw: RawEnv): Result<Env, EnvFailure> {
  const problems: string[] = [];
  const binding = (name: string, method: string): unknown => {
    const value = raw[name];
    if (typeof value === "object" && value !== null && method in value) return value;
    problems.push(`binding ${name} is missing`);
    return undefined;
  };
  const text = (name: string): string => {
    const value = raw[name];
    if (typeof value === "string" && value !== "") return value;
    problems.push(`${name} is missing`);
    return "";
  };
  const read = <T>(name: string, parse: (text: string) => T | undefined): T | undefined => {
    const value = text(name);
    if (value === "") return undefined;
    const parsed = parse(value);
    if (parsed === undefined) problems.push(`${name} is not valid`);
    return parsed;
  };

  const idempotencyKv = binding("IDEMPOTENCY", "get") as KVNamespace;
  const policyKv = binding("POLICY", "get") as KVNamespace;
  const connectionsKv = binding("CONNECTIONS", "get") as KVNamespace;
  const assets = binding("ASSETS", "fetch") as Fetcher;
  const runs = binding("RUNS", "idFromName") as DurableObjectNamespace;
  const tenants = binding("TENANTS", "idFromName") as DurableObjectNamespace;
  const baseUrl = read("OPENAI_BASE_URL", parseBaseUrl);
  const models = read("MODELS", parseModels);
  const apiKey = text("OPENAI_API_KEY");
  const rootSecret = read("RUN_ID_SECRET", (secret) =>
    secret.length >= MIN_SECRET_CHARS ? secret : undefined,
  );
  const connectionKeys = read("CONNECTION_KEYS", parseConnectionKeys);
  const developmentPrincipal =
    raw["DEV_PRINCIPAL"] === undefined ? undefined : read("DEV_PRINCIPAL", parsePrincipal);
  const jwt = raw["AUTH"] === undefined ? undefined : readJwt(raw, problems);
  const isOptional = developmentPrincipal !== undefined || raw["AUTH"] !== undefined;
  const isAbsent = isOptional && (developmentPrincipal || raw["API_TOKENS"] === undefined);
  const apiTokens = isAbsent ? [] : read("API_TOKENS", parseTokens);
  const callerLimit = limit(raw["CALLER_LIMIT"]);
  const addressLimit = limit(raw["ADDRESS_LIMIT"]);

  const seconds = (name: string, otherwise: number): number => {
    const value = raw[name];
    if (value === undefined) return otherwise * 1_000;
    const isText = typeof value === "string" || typeof value === "number";
    if (isText && WHOLE_SECONDS.test(`${value}`)) return Number(value) * 1_000;
    problems.push(`${name} is not valid`);
    return 0;
  };
  const lifetimes = {
    runMs: seconds("RUN_RETENTION_SECONDS", 7 * DAY_SECONDS),
    keyMs: seconds("KEY_RETENTION_SECONDS", 30 * DAY_SECONDS),
    outcomeMs: seconds("OUTCOME_WAIT_SECONDS", DAY_SECONDS),
  };

  const isWhole = baseUrl && models && rootSecret && connectionKeys && apiTokens;
  if (problems.length > 0 || !isWhole) return fail({ problems });
  const openai = { baseUrl, apiKey, models };
  const stores = { policyKv, connectionsKv, idempotencyKv, assets, runs, tenants };
  const checked = { ...stores, openai, lifetimes, rootSecret, connectionKeys, apiTokens };
  return ok({
    ...checked,
    ...(jwt && { jwt }),
    ...(callerLimit && { callerLimit }),
    ...(addressLimit && { addressLimit }),
    ...(developmentPrincipal && { developmentPrincipal }),
  });
}

function readJwt(raw: RawEnv, problems: string[]): JwtSettings | undefined {
  const settings = readJwtSettings(raw["AUTH"], raw["JWT_SECRET"]);
  if (settings.ok) return settings.value;
  problems.push(settings.failure);
  return undefined;
}

function limit(value: unknown): RateLimit | undefined {
  const isBound = typeof value === "object" && value !== null && "limit" in value;
  return isBound ? (value as RateLimit) : undefined;
}

function parseBaseUrl(text: string): string | undefined {
  if (!URL.canParse(text) || !/^https?:\/\//.test(text)) return undefined;
  return text.replace(/\/+$/, "");
}

function parseModels(text: string): OpenAISettings["models"] | undefined {
  const [first, ...rest] = text.split(",").flatMap((model) => model.trim() || []);
  return first === undefined ? undefined : [first, ...rest];
}

/** An empty list lets nobody in, which is a mistake better named than discovered. */
function parseTokens(text: string): readonly ApiToken[] | undefined {
  const tokens = parseApiTokens(text);
  return tokens && tokens.length > 0 ? tokens : undefined;
}
