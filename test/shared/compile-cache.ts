import { join } from "node:path";

/**
 * Environment for a script that starts often in a copy of the sources: Node keeps the code that it
 * compiled in the copy, and compiles only changed files again.
 * https://nodejs.org/api/module.html#module-compile-cache, read 2026-11-22.
 */
export function withCompileCache(directory: string): NodeJS.ProcessEnv {
  return { ...process.env, NODE_COMPILE_CACHE: join(directory, ".compile-cache") };
}
