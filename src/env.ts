import { parseApiTokens, type ApiToken } from "./protocol/identity/api-token.ts";
import { parseDevelopment, type Development } from "./protocol/identity/development.ts";
import { parseConnectionKeys, type ConnectionKeys } from "./protocol/connection/keys.ts";
import { parseServiceAddress } from "./protocol/connection/service-address.ts";
import type { DeployedModel } from "./protocol/model/declaration.ts";
import { readJwtSettings, type JwtSettings } from "./protocol/identity/jwt-settings.ts";
import { fail, ok, type Result } from "./protocol/outcome/result.ts";

/** Bindings as the platform supplies them; any of them may be missing. */
export type RawEnv = { readonly [binding: string]: unknown };

/** The binding of the objects of workspaces. Only a deployment with workspaces needs it. */
export const WORKSPACES = "WORKSPACES";

/** Checked bindings. Secrets stay in here and in the adapters that need them. */
export interface Env {
  readonly policyKv: KVNamespace;
  readonly connectionsKv: KVNamespace;
  readonly idempotencyKv: KVNamespace;
  readonly assets: Fetcher;
  readonly runs: DurableObjectNamespace;
  readonly tenants: DurableObjectNamespace;
  readonly lifetimes: Lifetimes;
  /** Size at which a part of an audit log moves to an object of its own. */
  readonly segmentBytes: number;
  /** RUN_ID_SECRET. adapters/keys/derive-key.ts lists the keys that are derived from it. */
  readonly rootSecret: string;
  /** RUN_ID_SECRET_OLD, during a rotation: verifies what it signed, and signs nothing. */
  readonly olderSecret?: string | undefined;
  readonly connectionKeys: ConnectionKeys;
  readonly apiTokens: readonly ApiToken[];
  /** The issuer whose tokens are accepted besides `apiTokens`. */
  readonly jwt?: JwtSettings;
  /** Absent means no limit. */
  readonly callerLimit?: RateLimit;
  readonly addressLimit?: RateLimit;
  /** Only `npm run dev` sets it. */
  readonly development?: Development;
}

export interface ProviderSettings {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: string;
}

export interface Lifetimes {
  /** How long a finished run keeps its events and its evidence. */
  readonly runMs: number;
  /** How long an `Idempotency-Key` stays known after its run ended. */
  readonly keyMs: number;
  /** How long the audit log keeps a record. */
  readonly auditMs: number;
  /** How long a conversation is kept after its last turn. */
  readonly conversationMs: number;
  /** How long an operator may resolve an unknown outcome. */
  readonly outcomeMs: number;
}

const DAY_SECONDS = 86_400;
/** KV keeps nothing for less time, so a shorter retention would be a false promise. */
const MIN_KV_SECONDS = 60;
const MIN_SECRET_CHARS = 32;
const OLDER_SECRET = "RUN_ID_SECRET_OLD";

/** What is wrong with the configuration. Names bindings and reasons, never values. */
export interface EnvFailure {
  readonly problems: readonly string[];
}

/**
 * Checks every binding before anything uses one.
 * Contract: pure; names all missing and invalid bindings at once.
 */
export function checkEnv(raw: RawEnv): Result<Env, EnvFailure> {
  const { problems, binding, parse, whole, seconds } = readSettings(raw);
  const stores = {
    idempotencyKv: binding("IDEMPOTENCY", "get") as KVNamespace,
    policyKv: binding("POLICY", "get") as KVNamespace,
    connectionsKv: binding("CONNECTIONS", "get") as KVNamespace,
    assets: binding("ASSETS", "fetch") as Fetcher,
    runs: binding("RUNS", "idFromName") as DurableObjectNamespace,
    tenants: binding("TENANTS", "idFromName") as DurableObjectNamespace,
  };
  const rootSecret = parse("RUN_ID_SECRET", parseSecret, `${MIN_SECRET_CHARS} characters or more`);
  const olderSecret =
    raw[OLDER_SECRET] === undefined
      ? undefined
      : parse(OLDER_SECRET, parseSecret, `${MIN_SECRET_CHARS} characters or more, or remove it`);
  const keysForm = "a JSON list of keys as in docs/connections.md";
  const connectionKeys = parse("CONNECTION_KEYS", parseConnectionKeys, keysForm);
  const isDevelopment = raw["DEVELOPER"] !== undefined;
  const development = isDevelopment
    ? parse("DEVELOPER", parseDevelopment, "people and a secret in JSON")
    : undefined;
  const jwt = raw["AUTH"] === undefined ? undefined : readJwt(raw, problems);
  const isOptional = development !== undefined || raw["AUTH"] !== undefined;
  const isAbsent = isOptional && raw["API_TOKENS"] === undefined;
  const tokensForm = "a JSON list of one or more tokens as in docs/identity.md";
  const apiTokens = isAbsent ? [] : parse("API_TOKENS", parseTokens, tokensForm);
  const callerLimit = readLimit(raw["CALLER_LIMIT"]);
  const addressLimit = readLimit(raw["ADDRESS_LIMIT"]);
  const lifetimes = {
    runMs: seconds("RUN_RETENTION_SECONDS", 7 * DAY_SECONDS, MIN_KV_SECONDS),
    keyMs: seconds("KEY_RETENTION_SECONDS", 30 * DAY_SECONDS, MIN_KV_SECONDS),
    auditMs: seconds("AUDIT_RETENTION_SECONDS", 180 * DAY_SECONDS, 1),
    conversationMs: seconds("CONVERSATION_RETENTION_SECONDS", 365 * DAY_SECONDS, MIN_KV_SECONDS),
    outcomeMs: seconds("OUTCOME_WAIT_SECONDS", DAY_SECONDS, 1),
  };
  const segmentBytes = whole("AUDIT_SEGMENT_BYTES", {
    unit: "bytes",
    min: 10_000,
    otherwise: 500_000_000,
  });

  const isWhole = rootSecret && connectionKeys && apiTokens;
  if (problems.length > 0 || !isWhole) return fail({ problems });
  return ok({
    ...stores,
    lifetimes,
    segmentBytes,
    rootSecret,
    ...(olderSecret !== undefined && { olderSecret }),
    connectionKeys,
    apiTokens,
    ...(jwt && { jwt }),
    ...(callerLimit && { callerLimit }),
    ...(addressLimit && { addressLimit }),
    ...(development && { development }),
  });
}

/**
 * Reads the address and the key of each model's provider.
 * Contract: pure; names all missing and invalid settings at once.
 */
export function readProviders(
  raw: RawEnv,
  models: readonly DeployedModel[],
): Result<ReadonlyMap<string, ProviderSettings>, readonly string[]> {
  const { problems, text, parse } = readSettings(raw);
  const providers = models.map(({ id, address, secret }) => {
    const baseUrl = parse(address, parseBaseUrl, "an http or https address") ?? "";
    return [id, { baseUrl, apiKey: text(secret) }] as const;
  });
  return problems.length > 0 ? fail([...new Set(problems)]) : ok(new Map(providers));
}

/** The setting that holds the address of each upstream, by the name of the upstream. */
export type UpstreamSettings = { readonly [upstream: string]: string };

/**
 * Reads the base address of each upstream, without a slash at its end.
 * Contract: pure; names all missing and invalid settings at once, never an address.
 */
export function readUpstreams(
  raw: RawEnv,
  settings: UpstreamSettings,
): Result<ReadonlyMap<string, string>, readonly string[]> {
  const { problems, parse } = readSettings(raw);
  const rules = { allowsLoopback: raw["DEVELOPER"] !== undefined };
  const read = (text: string): string | undefined => parseServiceAddress(text, rules);
  const addresses = Object.entries(settings).map(([upstream, name]) => {
    const address = parse(name, read, "a public https address without user, query and fragment");
    return [upstream, address ?? ""] as const;
  });
  return problems.length > 0 ? fail([...new Set(problems)]) : ok(new Map(addresses));
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
const WHOLE = /^[1-9]\d{0,8}$/;

interface WholeSetting {
  readonly unit: string;
  readonly min: number;
  /** The value of a setting that is absent. */
  readonly otherwise: number;
}

/** Reads single bindings and collects what is wrong with them in `problems`. */
function readSettings(raw: RawEnv) {
  const problems: string[] = [];
  const text = (name: string): string => {
    const value = raw[name];
    if (typeof value === "string" && value !== "") return value;
    problems.push(`${name} is missing`);
    return "";
  };
  const whole = (name: string, { unit, min, otherwise }: WholeSetting): number => {
    const value = raw[name];
    if (value === undefined) return otherwise;
    const isText = typeof value === "string" || typeof value === "number";
    if (isText && WHOLE.test(`${value}`) && Number(value) >= min) return Number(value);
    problems.push(`${name} is not valid. Set it to whole ${unit}, from ${min} to 999999999`);
    return 0;
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
    whole,
    /** Answers milliseconds. */
    seconds: (name: string, otherwise: number, min: number): number =>
      whole(name, { unit: "seconds", min, otherwise }) * 1_000,
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

/** An empty list would refuse every caller, so the check names it as a mistake. */
function parseTokens(text: string): readonly ApiToken[] | undefined {
  const tokens = parseApiTokens(text);
  return tokens && tokens.length > 0 ? tokens : undefined;
}
