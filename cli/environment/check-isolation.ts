import { describeEnvironment, type EnvironmentConfigs } from "./environment-config.ts";
import type { Finding } from "./finding.ts";

/**
 * Finds what an environment shares with another one. Contract: pure.
 * A shared KV namespace mixes policies, credentials and records of both.
 */
export function checkIsolation({ asked, others }: EnvironmentConfigs): readonly Finding[] {
  return [...others].flatMap(([name, other]) => {
    const where = describeEnvironment(name);
    const ids = new Set(other.kv_namespaces.flatMap(({ id }) => id ?? []));
    const mixed = asked.kv_namespaces
      .filter(({ id }) => id !== undefined && ids.has(id))
      .map(({ binding }) => `${binding} is the namespace of ${where} too. Use one of its own`);
    const limits = new Set((other.ratelimits ?? []).map((limit) => limit.namespace_id));
    const counted = (asked.ratelimits ?? [])
      .filter((limit) => limits.has(limit.namespace_id))
      .map((limit) => `${limit.name} counts together with ${where}. Use another namespace_id`);
    return mixed.map(toFinding("error")).concat(counted.map(toFinding("warning")));
  });
}

function toFinding(level: Finding["level"]): (message: string) => Finding {
  return (message) => ({ level, place: "wrangler.toml", message });
}
