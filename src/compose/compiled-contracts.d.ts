/** Written by the build: the CompiledContracts of TOOL_CONTRACTS. */
declare module "*/dist/compiled-contracts.js" {
  export const COMPILED: unknown;
}
