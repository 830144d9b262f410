import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type DevelopmentTenant, storeTenant } from "./store-tenant.ts";

const INTERVAL_MS = 500;

interface FollowOptions {
  /** Version of the files that were stored last, read before they were. */
  readonly stored: string;
  readonly tell: (lines: readonly string[]) => void;
}

/**
 * Stores a policy or an assistant again when its file changes, and tells what became of it.
 * A refusal is told when it comes twice: the Worker may be building the tool that a policy names.
 */
export function followTenant(tenant: DevelopmentTenant, { stored, tell }: FollowOptions): void {
  let seen = stored;
  let isRefused = false;
  /** The refusal that came last, and whether it was told. */
  let last = { text: "", isTold: false };
  const look = async (): Promise<void> => {
    const version = readTenantVersion(tenant.project);
    if (version !== seen || isRefused) {
      seen = version;
      const { stored: fresh, warned, kept, refused } = await storeTenant(tenant);
      isRefused = refused.length > 0;
      tell([...fresh, ...warned, ...kept]);
      const text = refused.join("\n");
      const isRepeated = isRefused && text === last.text;
      if (isRepeated && !last.isTold) tell(refused);
      last = { text, isTold: isRepeated };
    }
    setTimeout(() => void look(), INTERVAL_MS).unref();
  };
  void look();
}

/** Answers a text that changes when a file of the policy or of an assistant does. */
export function readTenantVersion(project: string): string {
  const folder = join(project, "tenant");
  const assistants = join(folder, "assistants");
  const names = existsSync(assistants) ? readdirSync(assistants) : [];
  return [join(folder, "policy.json"), ...names.map((name) => join(assistants, name))]
    .map((file) => {
      const stat = statSync(file, { throwIfNoEntry: false });
      return `${file} ${stat?.mtimeMs} ${stat?.size}`;
    })
    .join("\n");
}
