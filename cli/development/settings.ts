import { existsSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";

/** A real provider. */
export interface Provider {
  readonly OPENAI_BASE_URL: string | undefined;
  readonly OPENAI_API_KEY: string;
  readonly ANTHROPIC_BASE_URL: string | undefined;
  readonly ANTHROPIC_API_KEY: string;
  readonly MODELS: string | undefined;
}

/** Reads the environment, and below it `.dev.vars`. */
function readSettings(): NodeJS.Dict<string> {
  return { ...readDevVars(), ...process.env };
}

/** Reads `.dev.vars`, which git ignores. Empty without the file. */
export function readDevVars(): NodeJS.Dict<string> {
  return existsSync(".dev.vars") ? parseEnv(readFileSync(".dev.vars", "utf8")) : {};
}

/** Reads who else may call: callers with tokens are known beside the people of development. */
export function readTokens(): {
  readonly variables: NodeJS.Dict<string>;
  readonly secrets: NodeJS.Dict<string>;
} {
  const { AUTH, API_TOKENS, JWT_SECRET } = readSettings();
  return { variables: { AUTH }, secrets: { API_TOKENS, JWT_SECRET } };
}

/** Reads a real provider. Undefined when none is configured. */
export function readProvider(): Provider | undefined {
  const settings = readSettings();
  const { OPENAI_BASE_URL, OPENAI_API_KEY, ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY } = settings;
  const given = [OPENAI_BASE_URL, OPENAI_API_KEY, ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY];
  if (!given.some(Boolean)) return undefined;
  return {
    OPENAI_BASE_URL,
    OPENAI_API_KEY: OPENAI_API_KEY || "none",
    ANTHROPIC_BASE_URL,
    ANTHROPIC_API_KEY: ANTHROPIC_API_KEY || "none",
    MODELS: settings["MODELS"],
  };
}
