import { parseApiTokens, parsePrincipal, type ApiToken } from "./protocol/identity/api-token.ts";
import { parseConnectionKeys, type ConnectionKeys } from "./protocol/connection/keys.ts";
import { readJwtSettings, type JwtSettings } from "./protocol/identity/jwt-settings.ts";
import type { Principal } from "./protocol/identity/principal.ts";
import { fail, ok, type Result } from "./protocol/outcome/result.ts";

/** Bindings as the platform supplies them; any of them may be missing. */
export type RawEnv = { readonly [binding: string]: unknown };

/** Checked bindings. Secrets stay in here and in the adapters that need them. */
export interface Env {
  readonly policyKv: KVNamespace;
  readonly connectionsKv: KVNamespace;
  readonly idempotencyKv: KVNamespace;
  readonly assets: Fetcher;
  readonly runs: DurableObjectNamespace;
  readonly tenants: DurableObjectNamespace;
  readonly openai: OpenAISettings;
  readonly lifetimes: Lifetimes;
  /** RUN_ID_SECRET. adapters/derive-key.ts lists the keys that are derived from it. */
  readonly rootSecret: string;
  readonly connectionKeys: ConnectionKeys;
  readonly apiTokens: readonly ApiToken[];
  /** The issuer whose tokens are accepted besides `apiTokens`. */
  readonly jwt?: JwtSettings;
  /** Absent means no limit. */
  readonly callerLimit?: RateLimit;
  readonly addressLimit?: RateLimit;
  /** Only `npm run dev` sets it. */
  readonly developmentPrincipal?: Principal;
}

export interface OpenAISettings {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The first is the default. */
  readonly models: readonly [string, ...string[]];
}

export interface Lifetimes {
  /** How long a finished run keeps its events and its evidence. */
  readonly runMs: number;
  /** How long an `Idempotency-Key` stays known after its run ended. */
  readonly keyMs: number;
  /** How long an operator may resolve an unknown outcome. */
  readonly outcomeMs: number;
}

const DAY_SECONDS = 86_400;
const MIN_SECRET_CHARS = 32;

/** What is wrong with the configuration. Names bindings and reasons, never values. */
export interface EnvFailure {
  readonly problems: readonly string[];
}

/**
 * Checks every binding before anything uses one.
 * Contract: pure; names all missing and invalid bindings at once.
 */
export function checkEnv(raw: RawEnv): Result<Env, EnvFailure> {
  const { problems, binding, text, parse, seconds } = createReader(raw);
  const stores = {
    idempotencyKv: binding("IDEMPOTENCY", "get") as KVNamespace,
    policyKv: binding("POLICY", "get") as KVNamespace,
    connectionsKv: binding("CONNECTIONS", "get") as KVNamespace,
    assets: binding("ASSETS", "fetch") as Fetcher,
    runs: binding("RUNS", "idFromName") as DurableObjectNamespace,
    tenants: binding("TENANTS", "idFromName") as DurableObjectNamespace,
  };
  const baseUrl = parse("OPENAI_BASE_URL", parseBaseUrl, "an http or https address");
  const models = parse("MODELS", parseModels, "model names, separated by commas");
  const apiKey = text("OPENAI_API_KEY");
  const rootSecret = parse("RUN_ID_SECRET", parseSecret, `${MIN_SECRET_CHARS} characters or more`);
  const keysForm = "a JSON list of keys as in docs/connections.md";
  const connectionKeys = parse("CONNECTION_KEYS", parseConnectionKeys, keysForm);
  const isDevelopment = raw["DEV_PRINCIPAL"] !== undefined;
  const developmentPrincipal = isDevelopment
    ? parse("DEV_PRINCIPAL", parsePrincipal, "one principal in JSON")
    : undefined;
  const jwt = raw["AUTH"] === undefined ? undefined : readJwt(raw, problems);
  const isOptional = developmentPrincipal !== undefined || raw["AUTH"] !== undefined;
  const isAbsent = isOptional && (developmentPrincipal || raw["API_TOKENS"] === undefined);
  const tokensForm = "a JSON list of one or more tokens as in docs/identity.md";
  const apiTokens = isAbsent ? [] : parse("API_TOKENS", parseTokens, tokensForm);
  const callerLimit = readLimit(raw["CALLER_LIMIT"]);
  const addressLimit = readLimit(raw["ADDRESS_LIMIT"]);
  const lifetimes = {
    runMs: seconds("RUN_RETENTION_SECONDS", 7 * DAY_SECONDS),
    keyMs: seconds("KEY_RETENTION_SECONDS", 30 * DAY_SECONDS),
    outcomeMs: seconds("OUTCOME_WAIT_SECONDS", DAY_SECONDS),
  };

  const isWhole = baseUrl && models && rootSecret && connectionKeys && apiTokens;
  if (problems.length > 0 || !isWhole) return fail({ problems });
  const openai = { baseUrl, apiKey, models };
  return ok({
    ...stores,
    openai,
    lifetimes,
    rootSecret,
    connectionKeys,
    apiTokens,
    ...(jwt && { jwt }),
    ...(callerLimit && { callerLimit }),
    ...(addressLimit && { addressLimit }),
    ...(developmentPrincipal && { developmentPrincipal }),
  });
}

/** Bindings do not change while an isolate lives, and every object needs them. */
const checked = new WeakMap<RawEnv, Env>();

/** Checks the bindings for an object. Fails: throws on bindings that `checkEnv` refuses. */
export function requireEnv(raw: RawEnv): Env {
  const known = checked.get(raw);
  if (known) return known;
  const env = checkEnv(raw);
  if (!env.ok) throw new Error(`misconfigured: ${env.failure.problems.join("; ")}`);
  checked.set(raw, env.value);
  return env.value;
}

/** At most 31 years: an alarm can only be set for a time that a date can hold. */
const WHOLE_SECONDS = /^[1-9]\d{0,8}$/;

/** Reads single bindings and collects what is wrong with them in `problems`. */
function createReader(raw: RawEnv) {
  const problems: string[] = [];
  const text = (name: string): string => {
    const value = raw[name];
    if (typeof value === "string" && value !== "") return value;
    problems.push(`${name} is missing`);
    return "";
  };
  return {
    problems,
    text,
    binding: (name: string, method: string): unknown => {
      const value = raw[name];
      if (typeof value === "object" && value !== null && method in value) return value;
      problems.push(`binding ${name} is missing`);
      return undefined;
    },
    parse: <T>(
      name: string,
      read: (text: string) => T | undefined,
      form: string,
    ): T | undefined => {
      const value = text(name);
      if (value === "") return undefined;
      const parsed = read(value);
      if (parsed === undefined) problems.push(`${name} is not valid. Set it to ${form}`);
      return parsed;
    },
    /** Answers milliseconds. */
    seconds: (name: string, defaultSeconds: number): number => {
      const value = raw[name];
      if (value === undefined) return defaultSeconds * 1_000;
      const isText = typeof value === "string" || typeof value === "number";
      if (isText && WHOLE_SECONDS.test(`${value}`)) return Number(value) * 1_000;
      problems.push(`${name} is not valid. Set it to whole seconds, from 1 to 999999999`);
      return 0;
    },
  };
}

function readJwt(raw: RawEnv, problems: string[]): JwtSettings | undefined {
  const settings = readJwtSettings(raw["AUTH"], raw["JWT_SECRET"]);
  if (settings.ok) return settings.value;
  problems.push(settings.failure);
  return undefined;
}

function readLimit(value: unknown): RateLimit | undefined {
  const isBound = typeof value === "object" && value !== null && "limit" in value;
  return isBound ? (value as RateLimit) : undefined;
}

function parseSecret(text: string): string | undefined {
  return text.length >= MIN_SECRET_CHARS ? text : undefined;
}

function parseBaseUrl(text: string): string | undefined {
  if (!URL.canParse(text) || !/^https?:\/\//.test(text)) return undefined;
  return text.replace(/\/+$/, "");
}

function parseModels(text: string): OpenAISettings["models"] | undefined {
  const [first, ...rest] = text.split(",").flatMap((model) => model.trim() || []);
  return first === undefined ? undefined : [first, ...rest];
}

/** An empty list would refuse every caller, so the check names it as a mistake. */
function parseTokens(text: string): readonly ApiToken[] | undefined {
  const tokens = parseApiTokens(text);
  return tokens && tokens.length > 0 ? tokens : undefined;
}
