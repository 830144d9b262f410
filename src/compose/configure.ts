import type { Services } from "../http/services.ts";
import { checkPages } from "../http/pages/pages.ts";
import { checkEnv, type Env, type RawEnv } from "../env.ts";
import { readAssistants, type DeclaredAssistants } from "../protocol/assistant/declared.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import { checkWorkspaces } from "./configure-workspaces.ts";
import type { Deployment } from "./deployment.ts";
import { configureModels } from "./models.ts";
import { configureUpstreams } from "./upstreams.ts";

/** What a deployment is started with, checked. */
export interface Configuration extends Pick<Services, "models"> {
  readonly env: Env;
  readonly assistants: DeclaredAssistants;
}

/**
 * Checks everything that a deployment needs before it can answer: its bindings, and what it
 * declares in code.
 * Contract: pure. Fails: one sentence for each problem, for the operator; never a value.
 */
export function configureDeployment(
  raw: RawEnv,
  deployment: Deployment,
): Result<Configuration, readonly string[]> {
  const env = checkEnv(raw);
  const models = configureModels(raw, deployment);
  const upstreams = configureUpstreams(raw, deployment);
  const assistants = readAssistants(deployment.assistants);
  const others = [
    ...checkPages(deployment.pages),
    ...checkWorkspaces(raw, deployment),
    ...(deployment.traces?.problemsOf(raw) ?? []),
  ];
  if (env.ok && models.ok && upstreams.ok && assistants.ok && others.length === 0) {
    return ok({ env: env.value, models: models.value.offered, assistants: assistants.value });
  }
  return fail([
    ...(env.ok ? [] : env.failure.problems),
    ...(models.ok ? [] : models.failure),
    ...(upstreams.ok ? [] : upstreams.failure),
    ...(assistants.ok ? [] : assistants.failure),
    ...others,
  ]);
}
