import { join } from "node:path";
import { experimental_readRawConfig as readRawConfig, unstable_readConfig } from "wrangler";
import { CommandError, messageOf } from "../command.ts";

/** Part of an environment of wrangler.toml that the check reads, after what it inherits. */
export interface EnvironmentConfig {
  readonly name?: string;
  readonly vars: Readonly<Record<string, unknown>>;
  readonly secrets?: { readonly required?: readonly string[] };
  readonly kv_namespaces: readonly { readonly binding: string; readonly id?: string }[];
  readonly durable_objects: {
    readonly bindings: readonly {
      readonly name: string;
      readonly class_name: string;
      readonly script_name?: string;
    }[];
  };
  readonly assets?: { readonly binding?: string };
  readonly ratelimits?: readonly { readonly name: string; readonly namespace_id: string }[];
  readonly exports?: Readonly<
    Record<string, { readonly type?: string; readonly storage?: string }>
  >;
  readonly migrations?: readonly { readonly new_sqlite_classes?: readonly string[] }[];
}

/** The environments of a project. `undefined` names the top level of wrangler.toml. */
export interface EnvironmentConfigs {
  readonly asked: EnvironmentConfig;
  readonly others: ReadonlyMap<string | undefined, EnvironmentConfig>;
}

/**
 * Reads wrangler.toml as `wrangler deploy --env NAME` does: a named environment inherits no
 * variables, secrets and bindings.
 * Fails: throws a CommandError that lists the environments for an unknown one; otherwise with
 * wrangler's message.
 */
export function readEnvironmentConfigs(
  project: string,
  environment: string | undefined,
): EnvironmentConfigs {
  const file = join(project, "wrangler.toml");
  const read = (env: string | undefined): EnvironmentConfig =>
    unstable_readConfig({ config: file, env }, { hideWarnings: true }) as EnvironmentConfig;
  try {
    const { rawConfig } = readRawConfig({ config: file });
    const named = Object.keys(rawConfig.env ?? {});
    if (environment !== undefined && !named.includes(environment)) {
      const known = named.join(", ") || "none";
      throw new CommandError(`wrangler.toml has no environment ${environment}; it has ${known}.`);
    }
    const names = [undefined, ...named];
    const others = names.filter((name) => name !== environment);
    return {
      asked: read(environment),
      others: new Map(others.map((name) => [name, read(name)] as const)),
    };
  } catch (error) {
    throw new CommandError(messageOf(error));
  }
}

/** How people name an environment of wrangler.toml. */
export function describeEnvironment(environment: string | undefined): string {
  return environment === undefined ? "the top level of wrangler.toml" : `[env.${environment}]`;
}
