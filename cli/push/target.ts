import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import * as v from "valibot";
import { isLoopback } from "../../src/protocol/connection/egress-host.ts";
import { formatExpectation } from "../../src/protocol/text/format-expectation.ts";
import { CommandError } from "../command.ts";
import { readJsonFile } from "./tenant-files.ts";

const FILE = "tenant/environments.json";
/** The variable with the bearer token of the tenant. */
const TOKEN = "INTERLOCK_TOKEN";

const address = v.pipe(
  v.string(),
  v.check(
    isSafeAddress,
    "an https address without user, query and fragment; http on this machine only",
  ),
  v.transform((text) => new URL(text).href.replace(/\/+$/, "")),
);
/** Accepts `tenant/environments.json`: the address of each environment. */
export const environmentsDocument = v.record(v.string(), v.strictObject({ url: address }));

/** A deployment that a command talks to, and who is allowed to. */
export interface Target {
  readonly environment: string;
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string;
  /** Reads a secret. Fails: throws a CommandError when the variable is not set. */
  readonly readVariable: (name: string) => string;
}

/**
 * Reads the address of an environment from `tenant/environments.json`, and its token and secrets
 * from the environment's variables or, where they are not set, from `.dev.vars.<environment>`.
 * Fails: throws a CommandError that names what is missing, never a value.
 */
export function readTarget(project: string, environment: string): Target {
  const file = join(project, `.dev.vars.${environment}`);
  const kept = existsSync(file) ? parseEnv(readFileSync(file, "utf8")) : {};
  const readVariable = (name: string): string => {
    const value = process.env[name] ?? kept[name];
    if (value) return value;
    throw new CommandError(
      `${name} is not set. Set it in the environment or in .dev.vars.${environment}, ` +
        "which git must ignore.",
    );
  };
  const url = readAddress(project, environment);
  return { environment, url, token: readVariable(TOKEN), readVariable };
}

function readAddress(project: string, environment: string): string {
  const document = readJsonFile(join(project, FILE));
  const example = `{"${environment}": {"url": "https://..."}}`;
  if (document === undefined) {
    throw new CommandError(`There is no ${FILE}. Write one: ${example}`);
  }
  const read = v.safeParse(environmentsDocument, document, { message: formatExpectation });
  if (!read.success) {
    const [issue] = read.issues;
    throw new CommandError(`${FILE}: ${v.getDotPath(issue) ?? "it"}: expected ${issue.message}`);
  }
  const found = Object.hasOwn(read.output, environment) ? read.output[environment] : undefined;
  if (found) return found.url;
  const names = Object.keys(read.output).join(", ") || "none";
  throw new CommandError(`${FILE} has no environment ${environment}; it has ${names}.`);
}

/** Threat: a token that travels in clear text. */
export function isSafeAddress(text: string): boolean {
  const url = URL.parse(text);
  if (!url || url.username !== "" || url.password !== "" || /[?#]/.test(url.href)) return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url));
}
