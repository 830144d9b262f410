import { checkEnv, type Env, type RawEnv } from "../env.ts";

/** Bindings do not change while an isolate lives, and every object needs them. */
const checked = new WeakMap<RawEnv, Env>();

/** Checks the bindings of an object. Fails: throws on ones that the Worker would have refused. */
export function checkedEnv(raw: RawEnv): Env {
  const known = checked.get(raw);
  if (known) return known;
  const env = checkEnv(raw);
  if (!env.ok) throw new Error(`misconfigured: ${env.failure.problems.join("; ")}`);
  checked.set(raw, env.value);
  return env.value;
}
