import type { Page } from "../../src/http/pages/pages.ts";
import { messageOf } from "../command.ts";
import type { Provider } from "./settings.ts";

interface Started {
  readonly provider: Provider | undefined;
  readonly pages: readonly Page[];
}

/** Tells where the deployment answers, and which model answers there. */
export function announce(port: number, { provider, pages }: Started): void {
  const model = provider
    ? `models ${provider.MODELS ?? "of wrangler.toml"}`
    : "offline model, no key needed";
  const url = `http://127.0.0.1:${port}/`;
  const hasGame = pages.some(({ paths }) => paths.includes("/gameplan"));
  const game = hasGame ? `\n  GamePlan: ${url}gameplan` : "";
  console.log(`${game}\n  Interlock is ready: ${url}  (${model})\n  Ctrl-C stops it.\n`);
}

/** Tells that the deployment answers again after a refused build, or after its runtime ended. */
export function announceAgain(port: number): void {
  console.log(`  Interlock is ready again: http://127.0.0.1:${port}/\n`);
}

/** Tells what became of files of the tenant. */
export function tellTenant(lines: readonly string[]): void {
  for (const line of lines) console.log(`  ${line}`);
}

/** Says why nothing can listen on a port. */
export function describeListen(port: number, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== "EADDRINUSE") return `Port ${port} cannot be used: ${messageOf(error)}`;
  return `Port ${port} is in use. Choose another one: npm run dev -- --port ${port + 1}`;
}
